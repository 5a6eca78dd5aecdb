/* sqlaudit: series_candidates */
WITH seen AS MATERIALIZED (
        SELECT 1 AS release, e, MIN(e) OVER (PARTITION BY q1, q2) AS class, s
    FROM (
        SELECT "age" AS q1, "zip" AS q2, "id" AS e, "disease" AS s
        FROM patients
    ) AS given
    UNION ALL
    SELECT 2 AS release, e, MIN(e) OVER (PARTITION BY q1, q2) AS class, s
    FROM (
        SELECT "age" AS q1, "zip" AS q2, "id" AS e, "disease" AS s
        FROM patients
    ) AS given
    

),
cells AS (
    SELECT release, class, s, COUNT(*) AS n
    FROM seen
    WHERE class IS NOT NULL
    GROUP BY release, class, s
),
lives AS MATERIALIZED (
        SELECT e, MIN(e) OVER (PARTITION BY c1, c2) AS path, c1, c2
    FROM (
        SELECT e, MAX(CASE WHEN release = 1 THEN class END) AS c1, MAX(CASE WHEN release = 2 THEN class END) AS c2
        FROM seen
        WHERE e IS NOT NULL
        GROUP BY e
    ) AS alive
),
paths AS MATERIALIZED (
    SELECT
        path, COUNT(*) AS persons,
CASE WHEN c1 IS NULL THEN 0 ELSE 1 END + CASE WHEN c2 IS NULL THEN 0 ELSE 1 END AS span,
c1, c2
    FROM lives
    GROUP BY path, c1, c2
),
steps AS (
    SELECT path, persons, span, 1 AS release, c1 AS class
    FROM paths
    WHERE c1 IS NOT NULL
    UNION ALL
    SELECT path, persons, span, 2 AS release, c2 AS class
    FROM paths
    WHERE c2 IS NOT NULL
    
),
met AS (
    SELECT
        steps.path, steps.persons, steps.span, steps.release, steps.class, cells.s, cells.n,
        COUNT(*) OVER (PARTITION BY steps.path, cells.s) AS met,
        COUNT(*) OVER (PARTITION BY steps.path, steps.release) AS kinds
    FROM steps
    JOIN cells ON steps.release = cells.release AND steps.class = cells.class
),
signed AS (
    SELECT
        met.*, MIN(met) OVER (PARTITION BY path) AS fewest_met, MIN(kinds) OVER (PARTITION BY path) AS alone
    FROM met
),
told0 AS (
    SELECT
        path, persons, span, release, class, s, n, alone,
        CASE WHEN fewest_met = span THEN 1 ELSE 0 END AS steady,
        CASE WHEN COUNT(*) OVER (PARTITION BY path) = span THEN 0 END AS known
    FROM signed
    WHERE met = span
),
struck1 AS (
    SELECT
        told0.*,
        SUM(CASE WHEN known IS NOT NULL THEN persons ELSE 0 END) OVER (PARTITION BY release, class, s) AS taken
    FROM told0
),
kept1 AS (
    SELECT
        struck1.*,
        SUM(CASE WHEN known IS NOT NULL OR n > taken THEN 1 ELSE 0 END) OVER (PARTITION BY path, s) AS possible
    FROM struck1
),
told1 AS (
    SELECT
        path, persons, span, release, class, s, n, alone, steady,
        COALESCE(known, CASE WHEN COUNT(*) OVER (PARTITION BY path) = span THEN 1 END) AS known
    FROM kept1
    WHERE possible = span
),
told AS (
    SELECT *
    FROM told1
),
people AS (
    SELECT
        path, MAX(persons) AS persons, MAX(span) AS span, COUNT(*) AS places, MAX(alone) AS alone,
        MAX(steady) AS steady, MAX(known) AS known
    FROM told
    GROUP BY path
)
SELECT
    alone, steady, CASE WHEN span > 1 THEN 1 ELSE 0 END AS several, CAST(places / span AS BIGINT) AS candidates, known,
    CAST(SUM(persons) AS BIGINT) AS persons
FROM people
GROUP BY alone, steady, CASE WHEN span > 1 THEN 1 ELSE 0 END, CAST(places / span AS BIGINT), known
ORDER BY candidates, alone, steady, several, known
