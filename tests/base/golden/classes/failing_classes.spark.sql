/* sqlaudit: failing_classes */
WITH facts AS (
  SELECT
    classes,
    table_rows,
    size,
    n
  FROM patients AS class
), short AS (
  SELECT
    size AS class_size,
    classes AS classes,
    table_rows AS table_rows,
    n,
    CASE WHEN size < 5 THEN 1 ELSE 0 END AS fails_0
  FROM facts
)
SELECT
  alike.*,
  CAST(SUM(classes) OVER () AS BIGINT) AS failing_total
FROM (
  SELECT
    class_size,
    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows,
    fails_0
  FROM short
  WHERE
    fails_0 = 1
  GROUP BY
    class_size,
    CAST(table_rows AS DOUBLE) / classes,
    fails_0
) AS alike
ORDER BY
  class_size NULLS LAST,
  fails_0 NULLS LAST,
  CAST(table_rows AS DOUBLE) / classes NULLS LAST
LIMIT 10
