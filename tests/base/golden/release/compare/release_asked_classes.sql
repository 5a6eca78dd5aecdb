/* sqlaudit: release_asked_classes */
SELECT c, g1, 0 AS lane, CAST(SUM(n) AS BIGINT) AS m
FROM patients
WHERE c IS NOT NULL
GROUP BY ALL
