/* sqlaudit: release_asked */
WITH
truth_0 AS (
    SELECT COALESCE(SUM(n), 0) AS answer
    FROM patients
    WHERE TRUE AND v1 BETWEEN 0 AND 1 AND lane = 0
),
plain_0 AS (
    SELECT
        COALESCE(SUM(classes.m), 0) AS answer,
        COALESCE(SUM(classes.m * share_1.share), 0) AS independent
    FROM patients AS classes
    JOIN patients AS share_1
        ON share_1.query = 0 AND share_1.place = 1 AND classes.g1 = share_1.cell
    WHERE classes.lane = 0
),
meant_0 AS (
    SELECT home, SUM(n) AS n
    FROM patients
    WHERE TRUE AND v1 BETWEEN 0 AND 1
    GROUP BY home
),
conditional_0 AS (
    SELECT COALESCE(SUM(held.n * classes.m / regions.region), 0) AS answer
    FROM (
        SELECT home AS c, n
        FROM meant_0
        WHERE home IS NOT NULL
        UNION ALL
        SELECT whole.key, meant.n
        FROM (SELECT SUM(n) AS n FROM meant_0) AS meant
        CROSS JOIN (SELECT key FROM patients WHERE is_whole) AS whole
    ) AS held
    JOIN patients AS regions ON held.c = regions.key
    JOIN patients AS classes ON held.c = classes.c
    WHERE regions.region > 0 AND classes.lane = 0
)
SELECT 0 AS query, truth_0.answer AS truth, plain_0.answer AS plain, conditional_0.answer AS conditional, plain_0.independent
FROM truth_0, plain_0, conditional_0

ORDER BY query
