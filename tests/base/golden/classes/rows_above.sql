/* sqlaudit: rows_above */
SELECT SUM(table_rows) AS lost
FROM patients AS class
WHERE n > 255
