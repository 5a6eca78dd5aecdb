/* sqlaudit: row_count */
SELECT COUNT(*) AS row_count
FROM patients
