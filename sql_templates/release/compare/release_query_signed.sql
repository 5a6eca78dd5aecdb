{# The values of a column by their keys, with what linked conditions say of each; only those that satisfy the others. #}
{% import "hierarchies/_hierarchy.sql" as parts with context %}
SELECT DISTINCT {{ parts.key(column, kind) }} AS key, CAST({{ signature }} AS TEXT) AS x
FROM {{ source }}
{% for condition in conditions %}
{{ "WHERE" if loop.first else "AND" }} ({{ condition }})
{% endfor %}
