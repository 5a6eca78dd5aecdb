/* sqlaudit: release_largest */
SELECT MAX(code) AS largest
FROM patients
