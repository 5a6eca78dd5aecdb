/* sqlaudit: people */
SELECT SUM(CAST("w" AS DECIMAL(18, 6))) AS people
FROM patients
