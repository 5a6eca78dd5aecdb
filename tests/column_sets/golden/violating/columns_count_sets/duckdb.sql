/* sqlaudit: columns_count_sets */
SELECT
    0 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM "sqlaudit_columns_codes"
    HAVING COUNT(*) > 0
) AS classes
;
/* sqlaudit: columns_count_sets */
SELECT
    0 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
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
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
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
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM "sqlaudit_columns_codes"
    GROUP BY c2
) AS classes
;
/* sqlaudit: columns_count_sets */
SELECT
    0 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM "sqlaudit_columns_codes"
    GROUP BY c0 + CAST(c2 AS BIGINT) * 3
) AS classes
;
/* sqlaudit: columns_count_sets */
SELECT
    0 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM "sqlaudit_columns_codes"
    GROUP BY c0 + CAST(c1 AS BIGINT) * 3 + CAST(c2 AS BIGINT) * 75
) AS classes
UNION ALL
SELECT
    1 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM "sqlaudit_columns_codes"
    GROUP BY c1 + CAST(c2 AS BIGINT) * 25
) AS classes
UNION ALL
SELECT
    2 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM "sqlaudit_columns_codes"
    GROUP BY c0 + CAST(c1 AS BIGINT) * 3
) AS classes
;
/* sqlaudit: columns_count_sets */
WITH people AS (
    SELECT
    SUBSTRING(CAST("zip" AS VARCHAR), 1, 2) AS c0,
    "age" AS c1,
    "sex" AS c2

    FROM "input"."frame"
)

SELECT
    0 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM people
    GROUP BY c0, c1, c2
) AS classes
;
/* sqlaudit: columns_count_sets */
WITH people AS (
    SELECT
    "zip" AS c0,
    CASE WHEN "age" IS NOT NULL THEN CAST(FLOOR(PERCENT_RANK() OVER (ORDER BY "age") * 10) AS INTEGER) END AS c1,
    "sex" AS c2

    FROM "input"."frame"
)

SELECT
    0 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM people
    GROUP BY c0, c1, c2
) AS classes
;
/* sqlaudit: columns_count_sets */
WITH people AS (
    SELECT
    "zip" AS c0,
    "age" AS c1,
    SUBSTRING(CAST("sex" AS VARCHAR), 1, 2) AS c2

    FROM "input"."frame"
)

SELECT
    0 AS set_number,
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM (
    SELECT
        COUNT(*) AS members
    FROM people
    GROUP BY c0, c1, c2
) AS classes
