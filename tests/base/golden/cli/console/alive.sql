/* sqlaudit: alive */
SELECT 1 AS answer
