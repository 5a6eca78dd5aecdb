/* sqlaudit: columns_shared */
SELECT
    c0 + CAST(c1 AS BIGINT) * 4 AS k0,
    COUNT(*) AS members
FROM patients
WHERE NOT (c1 = 0)
GROUP BY c0 + CAST(c1 AS BIGINT) * 4
HAVING COUNT(*) > 1
