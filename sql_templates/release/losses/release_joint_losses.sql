{# What follows from tuples and the classes that they went to. A row that was suppressed went to the whole table, where
   nothing of its variance is left. #}
WITH pairs AS (
    SELECT {{ value_key }} AS q, {{ cell_key }} AS c, SUM(n) AS n
    FROM {{ source }}
    GROUP BY {{ value_key }}, {{ cell_key }}
),
measured AS (
    SELECT
        CAST(pairs.n AS DOUBLE) AS n,
        CAST(COALESCE(classes.region, {{ rows }}) AS DOUBLE) / tuples.n AS inflation,
        CAST(tuples.deviation AS DOUBLE) / tuples.n AS before,
        COALESCE(CAST(classes.deviation AS DOUBLE) / classes.n, 0) AS after
    FROM pairs
    JOIN {{ tuples }} AS tuples ON pairs.q = tuples.key
    LEFT JOIN {{ classes }} AS classes ON pairs.c = classes.key
)
SELECT
    COALESCE(SUM(n * inflation), 0) AS inflation,
    CAST({{ rows }} AS DOUBLE) * (SELECT COUNT(*) FROM {{ tuples }}) AS inflation_most,
    COALESCE(SUM(n * (before - after) * inflation), 0) / {{ rows }} AS hybrid,
    COALESCE(SUM(n * (before - after) * LOG2(inflation)), 0) / {{ rows }} AS hybrid_log
FROM measured
