/* sqlaudit: fact_histogram */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
        , CASE WHEN c0 > 0 THEN 1 ELSE 0 END AS distinct_values
    FROM patients AS class
)
SELECT
distinct_values, 
    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows
FROM facts
WHERE size > 1
GROUP BY distinct_values
