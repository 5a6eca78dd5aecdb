/* sqlaudit: histogram_digests */
WITH target AS (
  SELECT
    CAST("age" AS STRING) AS c0,
    CAST("disease" AS STRING) AS c1
  FROM patients
), combinations AS (
  SELECT
    c0,
    c1,
    COUNT(*) AS table_rows
  FROM target
  GROUP BY
    c0,
    c1
), written AS (
  SELECT
    table_rows,
    CAST(table_rows AS STRING) || CASE WHEN c0 IS NULL THEN '-' ELSE CAST(LENGTH(c0) AS STRING) || ':' || c0 END || CASE WHEN c1 IS NULL THEN '-' ELSE CAST(LENGTH(c1) AS STRING) || ':' || c1 END AS combination
  FROM combinations
), digested AS (
  SELECT
    table_rows,
    SHA2(combination, 256) AS digest
  FROM written
)
SELECT
  SUBSTRING(digest, 1, 2) AS bucket,
  COUNT(*) AS combinations,
  CAST(SUM(table_rows) AS BIGINT) AS table_rows,
  SHA2(ARRAY_JOIN(SORT_ARRAY(COLLECT_LIST(digest)), ''), 256) AS digests
FROM digested
GROUP BY
  SUBSTRING(digest, 1, 2)
ORDER BY
  bucket NULLS LAST
