/* sqlaudit: release_noise_rows */
SELECT c AS c, s1 AS lane, v1, CAST(SUM(n) AS BIGINT) AS n
FROM patients
GROUP BY c, s1, v1
