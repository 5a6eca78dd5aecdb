/* sqlaudit: release_own_places */
SELECT key, n, key AS a
FROM patients
