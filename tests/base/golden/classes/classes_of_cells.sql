/* sqlaudit: classes_of_cells */
SELECT id, 1 AS classes, n, n AS size, n AS table_rows, cell_list
FROM (
    SELECT id, CAST(SUM(c) AS BIGINT) AS n, ARRAY_AGG(lane * 1099511627776 + c) AS cell_list
    FROM patients AS cells
    GROUP BY id
) AS class
