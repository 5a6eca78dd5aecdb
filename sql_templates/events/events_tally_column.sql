{# The values of a column, as codes, in the minimal sets of most events with it: how many values are in any, how many of the
   first make half of what all make, and the first ones. #}
WITH counted AS (
    SELECT names.{{ key }} AS code, SUM(tally.sets) AS sets
    FROM {{ tally }} AS tally
    JOIN {{ names }} AS names ON names.event = tally.event
    GROUP BY names.{{ key }}
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
LIMIT {{ top }}
