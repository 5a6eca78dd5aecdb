{# How wide each column is: rows, missing values and, for whole numbers, the distance from the smallest to the largest.
   No value leaves the database. #}
SELECT
    COUNT(*) AS total
{% for column in columns %}
    , COUNT(*) - COUNT({{ column.name }}) AS missing_{{ loop.index0 }}
    , {% if column.whole %}CAST(MAX({{ column.name }}) AS {{ wide }}) - MIN({{ column.name }}){% else %}NULL{% endif %} AS width_{{ loop.index0 }}
{% endfor %}
FROM {{ source }}
