{# The different signatures in a relation. #}
SELECT DISTINCT CAST({{ column }} AS BIGINT) AS x
FROM {{ source }} AS counted
ORDER BY x
