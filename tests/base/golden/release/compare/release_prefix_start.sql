/* sqlaudit: release_prefix_start */
SELECT DISTINCT a AS id, a1, CAST(0 AS BIGINT) AS p, CAST(0 AS BIGINT) AS next
FROM patients
