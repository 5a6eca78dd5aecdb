{% import "_hierarchy.sql" as parts with context %}
{# The labels that a file lists, as a joined table; only what the file holds stands here. #}
LEFT JOIN (VALUES
{% for value, label in rows %}
    ({{ value }}, {{ label }}){{ "," if not loop.last }}
{% endfor %}
) AS {{ alias }}(value, label) ON {{ parts.has_key(value, alias ~ ".value", kind) }}{{ " OR (" ~ value ~ " IS NULL AND " ~ alias ~ ".value IS NULL)" if null }}
