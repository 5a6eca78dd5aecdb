{# How many rows have a cell. #}
SELECT COALESCE(SUM(c), 0) AS table_rows
FROM {{ cells }} AS cells
WHERE NOT id IS NULL
