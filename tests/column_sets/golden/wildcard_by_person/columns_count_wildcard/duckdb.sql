/* sqlaudit: columns_count_wildcard */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
members AS MATERIALIZED (
    SELECT e, 0 AS incomplete, COUNT(*) AS member_rows
    FROM people
    GROUP BY e, incomplete
),
patterns AS MATERIALIZED (
    SELECT incomplete, SUM(member_rows) AS pattern_rows, ROW_NUMBER() OVER () AS pattern
    FROM members
    GROUP BY incomplete
),
met AS (
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON 1 = 1
    WHERE a.incomplete = 1
    UNION ALL
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON 1 = 1
    WHERE a.incomplete = 0 AND b.incomplete = 1
    UNION ALL
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON a.incomplete = b.incomplete
    WHERE a.incomplete = 0
),
sizes AS (
    SELECT pattern, COUNT(DISTINCT partner) AS size
    FROM met
    GROUP BY pattern
)
SELECT
    0 AS set_number,
    NULL AS classes,
    MIN(size) AS smallest,
    COUNT(DISTINCT CASE WHEN size < 2 THEN members.e END) AS at_risk,
    COUNT(DISTINCT CASE WHEN size = 1 THEN members.e END) AS alone,
    NULL AS pairs
FROM patterns
JOIN sizes ON patterns.pattern = sizes.pattern
JOIN members ON patterns.incomplete = members.incomplete
;
/* sqlaudit: columns_count_wildcard */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
members AS MATERIALIZED (
    SELECT c0, e, CASE WHEN c0 = 0 THEN 1 ELSE 0 END AS incomplete, COUNT(*) AS member_rows
    FROM people
    GROUP BY c0, e, incomplete
),
patterns AS MATERIALIZED (
    SELECT c0, incomplete, SUM(member_rows) AS pattern_rows, ROW_NUMBER() OVER () AS pattern
    FROM members
    GROUP BY c0, incomplete
),
met AS (
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON (a.c0 = b.c0 OR a.c0 = 0 OR b.c0 = 0) AND 1 = 1
    WHERE a.incomplete = 1
    UNION ALL
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON (a.c0 = b.c0 OR a.c0 = 0 OR b.c0 = 0) AND 1 = 1
    WHERE a.incomplete = 0 AND b.incomplete = 1
    UNION ALL
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON a.c0 = b.c0 AND a.incomplete = b.incomplete
    WHERE a.incomplete = 0
),
sizes AS (
    SELECT pattern, COUNT(DISTINCT partner) AS size
    FROM met
    GROUP BY pattern
)
SELECT
    0 AS set_number,
    NULL AS classes,
    MIN(size) AS smallest,
    COUNT(DISTINCT CASE WHEN size < 2 THEN members.e END) AS at_risk,
    COUNT(DISTINCT CASE WHEN size = 1 THEN members.e END) AS alone,
    NULL AS pairs
FROM patterns
JOIN sizes ON patterns.pattern = sizes.pattern
JOIN members ON (patterns.c0 = members.c0) AND patterns.incomplete = members.incomplete
;
/* sqlaudit: columns_count_wildcard */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
members AS MATERIALIZED (
    SELECT c1, e, CASE WHEN c1 = 0 THEN 1 ELSE 0 END AS incomplete, COUNT(*) AS member_rows
    FROM people
    GROUP BY c1, e, incomplete
),
patterns AS MATERIALIZED (
    SELECT c1, incomplete, SUM(member_rows) AS pattern_rows, ROW_NUMBER() OVER () AS pattern
    FROM members
    GROUP BY c1, incomplete
),
met AS (
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON (a.c1 = b.c1 OR a.c1 = 0 OR b.c1 = 0) AND 1 = 1
    WHERE a.incomplete = 1
    UNION ALL
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON (a.c1 = b.c1 OR a.c1 = 0 OR b.c1 = 0) AND 1 = 1
    WHERE a.incomplete = 0 AND b.incomplete = 1
    UNION ALL
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON a.c1 = b.c1 AND a.incomplete = b.incomplete
    WHERE a.incomplete = 0
),
sizes AS (
    SELECT pattern, COUNT(DISTINCT partner) AS size
    FROM met
    GROUP BY pattern
)
SELECT
    0 AS set_number,
    NULL AS classes,
    MIN(size) AS smallest,
    COUNT(DISTINCT CASE WHEN size < 2 THEN members.e END) AS at_risk,
    COUNT(DISTINCT CASE WHEN size = 1 THEN members.e END) AS alone,
    NULL AS pairs
FROM patterns
JOIN sizes ON patterns.pattern = sizes.pattern
JOIN members ON (patterns.c1 = members.c1) AND patterns.incomplete = members.incomplete
;
/* sqlaudit: columns_count_wildcard */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
members AS MATERIALIZED (
    SELECT c2, e, 0 AS incomplete, COUNT(*) AS member_rows
    FROM people
    GROUP BY c2, e, incomplete
),
patterns AS MATERIALIZED (
    SELECT c2, incomplete, SUM(member_rows) AS pattern_rows, ROW_NUMBER() OVER () AS pattern
    FROM members
    GROUP BY c2, incomplete
),
met AS (
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON a.c2 = b.c2 AND 1 = 1
    WHERE a.incomplete = 1
    UNION ALL
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON a.c2 = b.c2 AND 1 = 1
    WHERE a.incomplete = 0 AND b.incomplete = 1
    UNION ALL
    SELECT a.pattern, b.e AS partner
    FROM patterns AS a
    JOIN members AS b ON a.c2 = b.c2 AND a.incomplete = b.incomplete
    WHERE a.incomplete = 0
),
sizes AS (
    SELECT pattern, COUNT(DISTINCT partner) AS size
    FROM met
    GROUP BY pattern
)
SELECT
    0 AS set_number,
    NULL AS classes,
    MIN(size) AS smallest,
    COUNT(DISTINCT CASE WHEN size < 2 THEN members.e END) AS at_risk,
    COUNT(DISTINCT CASE WHEN size = 1 THEN members.e END) AS alone,
    NULL AS pairs
FROM patterns
JOIN sizes ON patterns.pattern = sizes.pattern
JOIN members ON patterns.c2 = members.c2 AND patterns.incomplete = members.incomplete
