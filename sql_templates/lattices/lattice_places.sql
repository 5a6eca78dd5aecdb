{# A column's dictionary with the place of every label in the hierarchy: x0 numbers the values under one label of
   level 1, x1 the labels of level 1 under one label of level 2, and so on. A column that is kept has values alone. #}
SELECT
    dictionary.*,
{% if height == 0 %}
    id AS x0
{% endif %}
{% for level in range(height) %}
    DENSE_RANK() OVER (PARTITION BY l{{ level + 1 }} ORDER BY {{ "l" ~ level if level else "id" }}) - 1 AS x{{ level }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ source }} AS dictionary
