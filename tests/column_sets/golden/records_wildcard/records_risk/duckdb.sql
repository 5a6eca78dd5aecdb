/* sqlaudit: records_risk */
WITH people AS MATERIALIZED (
    SELECT "zip" AS c0, "age" AS c1, "sex" AS c2, CAST(1 AS DECIMAL(18, 6)) AS weight
    FROM "input"."frame"
),
patterns AS MATERIALIZED (
    SELECT c0, c1, c2, COUNT(*) AS members, SUM(weight) AS weights
    FROM people
    GROUP BY c0, c1, c2
),
classes AS (
    SELECT
        a.members AS row_count,
        (SELECT SUM(b.members) FROM patterns AS b WHERE (a.c0 = b.c0 OR a.c0 IS NULL OR b.c0 IS NULL) AND (a.c1 = b.c1 OR a.c1 IS NULL OR b.c1 IS NULL) AND (a.c2 = b.c2)) AS f,
        (SELECT SUM(b.weights) FROM patterns AS b WHERE (a.c0 = b.c0 OR a.c0 IS NULL OR b.c0 IS NULL) AND (a.c1 = b.c1 OR a.c1 IS NULL OR b.c1 IS NULL) AND (a.c2 = b.c2)) AS population
    FROM patterns AS a
),
shares AS (
    SELECT row_count, f, population, CAST(f AS DOUBLE) / CAST(NULLIF(population, 0) AS DOUBLE) AS p
    FROM classes
),
risks AS (
    SELECT
        row_count,
        f,
        population,
        CASE
            WHEN population <= f THEN 1.0 / CAST(f AS DOUBLE)
            WHEN f = 1 THEN p / (1 - p) * LN(1 / p)
            WHEN f = 2 THEN p / (1 - p) - p / (1 - p) * (p / (1 - p)) * LN(1 / p)
            ELSE p / (f - (1 - p))
        END AS risk
    FROM shares
)
SELECT
    COALESCE(SUM(row_count), 0) AS row_total,
    SUM(CASE WHEN population < f THEN 1 ELSE 0 END) AS too_light,
    SUM(row_count * risk) AS expected,
    MAX(risk) AS highest,
    SUM(CASE WHEN risk > 0.5 THEN row_count ELSE 0 END) AS above_0,
    SUM(CASE WHEN risk > 0.2 THEN row_count ELSE 0 END) AS above_1,
    SUM(CASE WHEN risk > 0.1 THEN row_count ELSE 0 END) AS above_2,
    SUM(CASE WHEN risk > 0.05 THEN row_count ELSE 0 END) AS above_3,
    SUM(CASE WHEN risk > 0.01 THEN row_count ELSE 0 END) AS above_4
FROM risks
