/* sqlaudit: profile_group_sizes */
WITH both_tables AS (
    SELECT "region" AS d0, "month" AS d1, 1 AS cells, 0 AS size, "treated" AS n0
    FROM patients
    UNION ALL
    SELECT "region" AS d0, "month" AS d1, 0 AS cells, COUNT(*) AS size, NULL AS n0
    FROM "visits"
    GROUP BY "region", "month"
),
beside AS (
    SELECT SUM(cells) AS cells, SUM(size) AS size, MAX(n0) AS n0
    FROM both_tables
    GROUP BY d0, d1
)
SELECT
    SUM(cells) AS total,
    MAX(cells) AS most,
    SUM(CASE WHEN cells > 0 AND size > 0 THEN 1 ELSE 0 END) AS matched,
    SUM(CASE WHEN cells > 0 AND size > 1 THEN 1 ELSE 0 END) AS larger
    , SUM(CASE WHEN cells > 0 AND size > 0 AND n0 IS NOT NULL THEN 1 ELSE 0 END) AS known_0
    , SUM(CASE WHEN cells > 0 AND size > 0 AND n0 = size THEN 1 ELSE 0 END) AS equal_0
FROM beside
