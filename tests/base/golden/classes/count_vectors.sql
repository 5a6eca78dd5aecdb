/* sqlaudit: count_vectors */
WITH facts AS MATERIALIZED (
    SELECT
        c0, classes, table_rows, size, n
        , CASE WHEN c0 > 0 THEN 1 ELSE 0 END AS distinct_values
    FROM patients AS class
)
SELECT
c0, 
    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows
FROM facts
WHERE distinct_values < 2
GROUP BY c0
LIMIT 200001
