/* sqlaudit: records_risk */
WITH people AS MATERIALIZED (
    SELECT "zip" AS c0, CAST(1 AS DECIMAL(18, 6)) AS weight
    FROM patients
),
patterns AS MATERIALIZED (
    SELECT c0, COUNT(*) AS members, SUM(weight) AS weights
    FROM people
    GROUP BY c0
),
classes AS (
    SELECT members AS row_count, members AS f, weights AS population
    FROM patterns
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
    SUM(CASE WHEN risk > 0.5 THEN row_count ELSE 0 END) AS above_0
FROM risks
