/* sqlaudit: cells_found */
SELECT COALESCE(SUM(c), 0) AS table_rows
FROM patients AS numbered
WHERE NOT cell IS NULL
