/* sqlaudit: lattice_failing */
WITH facts AS MATERIALIZED (
    SELECT
        q1, classes, table_rows, size, n
        , CASE WHEN c0 > 0 THEN 1 ELSE 0 END AS distinct_values
    FROM patients AS class
)
SELECT q1, table_rows
FROM facts
WHERE (size < 2) OR (distinct_values < 2)
