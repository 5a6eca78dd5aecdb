{% import "_hierarchy.sql" as parts with context %}
{# The labels that a file lists, as a joined table; only what the file holds stands here. #}
LEFT JOIN (VALUES
{% for value, label in rows %}
    ({{ value }}, {{ label }}){{ "," if not loop.last }}
{% endfor %}
) AS {{ alias }}(sqlaudit_value, sqlaudit_label) ON {{ parts.has_key(value, alias ~ ".sqlaudit_value", kind) }}{{ " OR (" ~ value ~ " IS NULL AND " ~ alias ~ ".sqlaudit_value IS NULL)" if null }}
