/* sqlaudit: rows */
SELECT *
FROM patients
