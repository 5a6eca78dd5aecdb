/* sqlaudit: release_surplus */
SELECT CAST(COALESCE(SUM(GREATEST(released - total, 0)), 0) AS BIGINT) AS surplus
FROM patients
