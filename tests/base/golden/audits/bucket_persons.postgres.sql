/* sqlaudit: bucket_persons */
SELECT
  *
FROM (
  SELECT
    DENSE_RANK() OVER (ORDER BY "age", "sex") AS "bucket",
    "sqlaudit_original_1" AS "age",
    "id" AS "id"
  FROM patients AS released
) AS persons
ORDER BY
  "bucket",
  CAST("age" AS TEXT) COLLATE "C",
  CAST("id" AS TEXT) COLLATE "C"
