{# The different cells of a column as texts, and their rows. #}
SELECT t, CAST(COUNT(*) AS BIGINT) AS n
FROM (
    SELECT CAST({{ column }} AS TEXT) AS t
    FROM {{ source }}
) AS cells
GROUP BY t
