/* sqlaudit: facts */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
        , CASE WHEN c0 > 0 THEN 1 ELSE 0 END AS distinct_values
    FROM patients AS class
)
SELECT *
FROM facts
