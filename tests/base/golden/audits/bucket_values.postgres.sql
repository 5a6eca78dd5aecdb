/* sqlaudit: bucket_values */
SELECT
  *
FROM (
  SELECT
    "bucket",
    "disease",
    CAST(COUNT(*) AS BIGINT) AS "persons"
  FROM (
    SELECT
      DENSE_RANK() OVER (ORDER BY "age", "sex") AS "bucket",
      "disease"
    FROM patients AS released
  ) AS numbered
  GROUP BY
    "bucket",
    "disease"
) AS counted
ORDER BY
  "bucket",
  CAST("disease" AS TEXT) COLLATE "C"
