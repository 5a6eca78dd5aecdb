/* sqlaudit: release_changed */
SELECT CAST(COALESCE(SUM(CASE WHEN c IS NOT NULL AND s1 <> z1 THEN n ELSE 0 END), 0) AS BIGINT) AS changed
FROM patients
