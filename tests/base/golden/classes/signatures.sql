/* sqlaudit: signatures */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
        , LIST_SORT([c0], 'DESC')[1:1] AS top_counts
    FROM patients AS class
)
SELECT
    n,
    COALESCE(top_counts[1], 0) AS r1,
    CAST(SUM(classes) AS BIGINT) AS classes
FROM facts
GROUP BY n, top_counts
