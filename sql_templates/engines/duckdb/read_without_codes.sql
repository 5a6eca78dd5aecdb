{# The columns of a statistics file; those that are no quasi-identifiers have NULL for each code for missing values. #}
SELECT
{% for column, codes in columns %}
    {{ codes or column }} AS {{ column }}{{ '' if loop.last else ',' }}
{% endfor %}
FROM {{ source }}
