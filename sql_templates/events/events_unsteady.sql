{# For each column how many persons have more than one value of it. #}
SELECT
{% for name in names %}
    COUNT(*) FILTER (WHERE {{ name }}_low <> {{ name }}_high) AS {{ name }}{{ "," if not loop.last }}
{% endfor %}
FROM (
    SELECT
    {% for name in names %}
        MIN({{ name }}) AS {{ name }}_low, MAX({{ name }}) AS {{ name }}_high{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ source }}
    GROUP BY e
) AS persons
