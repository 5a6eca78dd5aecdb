{# Which of some values satisfy conditions: constants of the query and values near them, none that was read. #}
SELECT number{{ ", " ~ signature ~ " AS x" if signature }}
FROM (
    {% for value in tried %}
    SELECT {{ loop.index0 }} AS number, CAST({{ value }} AS {{ type }}) AS {{ column }}
    {{ "UNION ALL" if not loop.last }}
    {% endfor %}
) AS tried
{% for condition in conditions %}
{{ "WHERE" if loop.first else "AND" }} ({{ condition }})
{% endfor %}
ORDER BY number
