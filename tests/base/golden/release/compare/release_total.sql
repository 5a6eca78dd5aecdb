/* sqlaudit: release_total */
SELECT SUM(n) AS total
FROM patients
