/* sqlaudit: columns_sample */
WITH numbered AS (
  SELECT
    "a" AS c0,
    MONOTONICALLY_INCREASING_ID() AS number
  FROM patients
), drawn AS (
  SELECT
    *
  FROM numbered
  WHERE
    MD5('0:' || CAST(number AS STRING)) < '0000000000abcdef'
)
SELECT
  CAST(CASE WHEN c0 IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY c0 NULLS LAST) END AS INT) AS c0
FROM drawn
