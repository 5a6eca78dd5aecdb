{# The different values of a sensitive attribute, their text, and their rows; only the text where the value itself has no
   like on the workbench. #}
SELECT
    {{ "v" if travels else "CAST(v AS TEXT)" }} AS v,
    CAST(v AS TEXT) AS t,
    CAST(row_count AS BIGINT) AS n
FROM (
    SELECT v, COUNT(*) AS row_count
    FROM (
        SELECT {{ column }} AS v
        FROM {{ source }}
    ) AS target
    GROUP BY v
) AS counted
