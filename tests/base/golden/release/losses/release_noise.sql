/* sqlaudit: release_noise */
WITH blocks AS (
    SELECT c, SUM(n) AS n
    FROM patients
    GROUP BY c
),
mixtures AS (
    SELECT rows_of.c, members.grp, SUM(rows_of.n) AS n
    FROM patients AS rows_of
    JOIN patients AS members ON rows_of.lane = members.lane
    WHERE rows_of.c IS NOT NULL
    GROUP BY rows_of.c, members.grp
    UNION ALL
    SELECT NULL, grp, MAX(part)
    FROM patients
    GROUP BY grp
),
selected AS (
    SELECT 0 AS query, c, lane, SUM(n) AS n
    FROM patients
    WHERE v1 BETWEEN 0 AND 0
    GROUP BY c, lane
    
),
sizes AS (
    SELECT query, c, SUM(n) AS n
    FROM selected
    GROUP BY query, c
),
meant AS (
    SELECT selected.query, selected.c, members.grp, SUM(selected.n) AS n
    FROM selected
    JOIN patients AS members ON selected.lane = members.lane
    GROUP BY selected.query, selected.c, members.grp
),
shown AS (
    SELECT c, CASE WHEN c IS NULL THEN 1 ELSE n END AS whole, n
    FROM blocks
),
compared AS (
    SELECT
        sizes.query, shown.n AS weight,
        ABS(CAST(COALESCE(meant.n, 0) AS DOUBLE) / sizes.n - CAST(mixtures.n AS DOUBLE) / shown.whole) AS difference
    FROM sizes
    JOIN shown ON sizes.c IS NOT DISTINCT FROM shown.c
    JOIN mixtures ON shown.c IS NOT DISTINCT FROM mixtures.c
    LEFT JOIN meant ON sizes.query = meant.query AND sizes.c IS NOT DISTINCT FROM meant.c AND mixtures.grp = meant.grp
)
SELECT query, SUM(weight * difference) / 1 AS noise
FROM compared
GROUP BY query
ORDER BY query
