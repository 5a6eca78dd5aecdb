/* sqlaudit: release_shared */
SELECT COUNT(*) AS shared
FROM (
    SELECT a
    FROM patients
    GROUP BY a
    HAVING COUNT(*) > 1
) AS several
