/* sqlaudit: cells */
WITH target AS (
    SELECT
        "zip" AS q1,
        "age" AS q2
    FROM patients
),
classes AS MATERIALIZED (
    SELECT q1, q2, COUNT(*) AS members
    FROM target
    GROUP BY q1, q2
),
margin_1 AS (
    SELECT q1 AS v, LN(CAST(SUM(members) AS DOUBLE)) AS effect
    FROM classes
    GROUP BY q1
),
margin_2 AS (
    SELECT q2 AS v, LN(CAST(SUM(members) AS DOUBLE)) AS effect
    FROM classes
    GROUP BY q2
),
placed AS (
    SELECT members, m1.effect + m2.effect AS effects
    FROM classes
    JOIN margin_1 AS m1 ON classes.q1 IS NOT DISTINCT FROM m1.v
    JOIN margin_2 AS m2 ON classes.q2 IS NOT DISTINCT FROM m2.v
    WHERE members = 1
),
unseen AS (
    SELECT EXP(effects - 1 * LN(CAST(9 AS DOUBLE))) * 9e0 AS x
    FROM placed
    WHERE members = 1
)
SELECT
    SUM(EXP(-x)) AS tau1,
    SUM(CASE WHEN x < 1e-6 THEN 1 - x / 2 ELSE (1 - EXP(-x)) / x END) AS tau2
FROM unseen
