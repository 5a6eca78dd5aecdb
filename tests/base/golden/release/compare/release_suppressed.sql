/* sqlaudit: release_suppressed */
SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS suppressed
FROM patients
WHERE is_whole
