{# The different tuples of values of the original, or of cells of the release. #}
SELECT
    {{ key }} AS key,
    {% for name in names %}
    ANY_VALUE({{ name }}) AS {{ name }},
    {% endfor %}
    CAST(SUM(n) AS BIGINT) AS n
FROM {{ source }}
WHERE {{ key }} IS NOT NULL
GROUP BY {{ key }}
