/* sqlaudit: release_originals */
SELECT *
FROM patients
WHERE q IS NOT NULL
