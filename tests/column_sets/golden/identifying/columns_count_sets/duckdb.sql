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
    FROM "sqlaudit_columns_codes"
    GROUP BY c0 + CAST(c1 AS BIGINT) * 3 + CAST(c2 AS BIGINT) * 75
) AS classes
;
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
    FROM "sqlaudit_columns_codes"
    GROUP BY c0
) AS classes
UNION ALL
SELECT
    1 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 5 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM "sqlaudit_columns_codes"
    GROUP BY c1
) AS classes
UNION ALL
SELECT
    2 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 5 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM "sqlaudit_columns_codes"
    GROUP BY c2
) AS classes
