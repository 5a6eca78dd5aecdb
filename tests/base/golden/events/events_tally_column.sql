/* sqlaudit: events_tally_column */
WITH counted AS (
    SELECT names.k0 AS code, SUM(tally.sets) AS sets
    FROM patients AS tally
    JOIN patients AS names ON names.event = tally.event
    GROUP BY names.k0
),
ranked AS (
    SELECT
        code,
        sets,
        COUNT(*) OVER () AS telling,
        SUM(sets) OVER () AS total,
        SUM(sets) OVER (ORDER BY sets DESC, code ROWS UNBOUNDED PRECEDING) - sets AS before
    FROM counted
)
SELECT telling, (SELECT COUNT(*) FROM ranked WHERE before * 2 < total) AS half, code, sets
FROM ranked
ORDER BY sets DESC, code
LIMIT 10
