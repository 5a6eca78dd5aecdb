{# Classes with an array of their cells, of cells that are kept one by one. #}
SELECT id, 1 AS classes, n, n AS size, n AS table_rows, cell_list
FROM (
    SELECT id, CAST(SUM(c) AS BIGINT) AS n, ARRAY_AGG(lane * {{ 2 ** 40 }} + c) AS cell_list
    FROM {{ cells }} AS cells
    GROUP BY id
) AS class
