/* sqlaudit: figures */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
    FROM patients AS class
)
SELECT
    size,
    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows
FROM facts
GROUP BY size
ORDER BY size
