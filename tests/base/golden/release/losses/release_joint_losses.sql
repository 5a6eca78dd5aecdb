/* sqlaudit: release_joint_losses */
WITH pairs AS (
    SELECT q AS q, c AS c, SUM(n) AS n
    FROM patients
    GROUP BY q, c
),
measured AS (
    SELECT
        CAST(pairs.n AS DOUBLE) AS n,
        CAST(COALESCE(classes.region, 1) AS DOUBLE) / tuples.n AS inflation,
        CAST(tuples.deviation AS DOUBLE) / tuples.n AS before,
        COALESCE(CAST(classes.deviation AS DOUBLE) / classes.n, 0) AS after
    FROM pairs
    JOIN patients AS tuples ON pairs.q = tuples.key
    LEFT JOIN patients AS classes ON pairs.c = classes.key
)
SELECT
    COALESCE(SUM(n * inflation), 0) AS inflation,
    CAST(1 AS DOUBLE) * (SELECT COUNT(*) FROM patients) AS inflation_most,
    COALESCE(SUM(n * (before - after) * inflation), 0) / 1 AS hybrid,
    COALESCE(SUM(n * (before - after) * LOG2(inflation)), 0) / 1 AS hybrid_log
FROM measured
