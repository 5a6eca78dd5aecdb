{# The labels that a file lists, as a joined table; only what the file holds stands here. #}
LEFT JOIN (VALUES
{% for value, label in rows %}
    ({{ value }}, {{ label }}){{ "," if not loop.last }}
{% endfor %}
) AS {{ alias }}(sqlaudit_value, sqlaudit_label) ON {{ condition }}
