{# The columns of the target and its persons as small whole numbers, 0 = missing, for a workbench elsewhere. #}
SELECT
{% for column in columns %}
    CASE WHEN {{ column }} IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY {{ column }}) END AS c{{ loop.index0 }},
{% endfor %}
    CASE WHEN {{ entity }} IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY {{ entity }}) END AS e
FROM {{ source }}
