{# One row a person, from people_grouped.sql, with what tells up to three combinations of the quasi-identifiers apart: the
   smallest, the largest, and the sum of the others. `many`: there are more, which may differ all the same. #}
SELECT
    e,
    MIN(combination) AS least,
    MAX(combination) AS most,
    CAST(SUM(combination) AS BIGINT) - MIN(combination) - MAX(combination) AS middle,
    COUNT(*) > 3 AS many,
    CAST(SUM(row_count) AS BIGINT) AS row_count
    {{ ", BIT_OR(present) AS present" if values }}
FROM {{ grouped }} AS grouped
GROUP BY e
