/* sqlaudit: release_asked_rows */
SELECT q, v1, 0 AS lane, CAST(SUM(n) AS BIGINT) AS n
FROM patients
WHERE q IS NOT NULL
GROUP BY ALL
