/* sqlaudit: release_prefixes */
SELECT *, DENSE_RANK() OVER (ORDER BY p, a3) AS next
FROM (
    SELECT * EXCLUDE (p, next), next AS p
    FROM patients
) AS shorter
