/* sqlaudit: columns_count_sets */
SELECT
    0 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 5 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM patients
    HAVING COUNT(*) > 0
) AS classes
