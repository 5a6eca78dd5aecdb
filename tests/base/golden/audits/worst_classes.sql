/* sqlaudit: worst_classes */
WITH facts AS MATERIALIZED (
    SELECT
        c0, classes, table_rows, size, n
        , CASE WHEN c0 > 0 THEN 1 ELSE 0 END AS distinct_values
    FROM patients AS class
)
SELECT size, n, classes, table_rows, c0
FROM facts
WHERE size >= 2
ORDER BY distinct_values, CAST(largest AS DOUBLE) / n DESC, size DESC, n DESC, CAST(table_rows AS DOUBLE) / classes DESC, NULLIF(c0, 0) NULLS LAST
LIMIT 3
