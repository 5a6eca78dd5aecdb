{# Joined rows under the names of their columns. #}
SELECT
{% for name, column in columns %}
    {{ column }} AS {{ name }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ joined }} AS joined
