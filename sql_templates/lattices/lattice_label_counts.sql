{# How many labels a column has at every level: the different bits of its codes that remain there. #}
SELECT
{% for masks in levels %}
    COUNT(DISTINCT ({% for mask in masks %}k{{ loop.index0 }} & {{ mask }}{{ ", " if not loop.last }}{% endfor %})) AS level_{{ loop.index0 }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ codes }} AS codes
