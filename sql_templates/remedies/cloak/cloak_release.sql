{# The published messages: their boxes and the columns that stay. With `ordered` they come in the order of what is
   published, so that their order says nothing of the table's. #}
SELECT
{% for bound in bounds %}
    {{ bound.name }} AS {{ bound.published }}{{ "," if not loop.last or columns }}
{% endfor %}
{% for name in columns %}
    c{{ loop.index }} AS {{ name }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ messages }}
WHERE outcome = 0
{% if ordered %}
ORDER BY
{% for bound in bounds %}
    {{ bound.name }}{{ "," if not loop.last or columns }}
{% endfor %}
{% for name in columns %}
    CAST(c{{ loop.index }} AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }} NULLS LAST{{ "," if not loop.last }}
{% endfor %}
{% endif %}
