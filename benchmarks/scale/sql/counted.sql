{# The exact answer to the same question: all classes. #}
WITH cells AS NOT MATERIALIZED (
    SELECT {{ columns | join(", ") }}, s, COUNT(*) AS c
    FROM {{ source }}
    GROUP BY {{ columns | join(", ") }}, s
),
classes AS NOT MATERIALIZED (
    SELECT SUM(c) AS n, COUNT(s) AS l
    FROM cells
    GROUP BY {{ columns | join(", ") }}
)
SELECT
    COUNT(*) AS classes,
    COUNT(*) FILTER (WHERE n < {{ k }}) AS small,
    COUNT(*) FILTER (WHERE l < {{ l }}) AS uniform,
    CAST(MIN(n) AS BIGINT) AS smallest
FROM classes
