{# Original rows by class, sensitive value and the values of the columns of a view. #}
SELECT {{ cell_key }} AS c, {{ lane }} AS lane, {% for place in places %}v{{ place }}, {% endfor %}CAST(SUM(n) AS BIGINT) AS n
FROM {{ source }}
GROUP BY {{ cell_key }}, {{ lane }}{% for place in places %}, v{{ place }}{% endfor %}
