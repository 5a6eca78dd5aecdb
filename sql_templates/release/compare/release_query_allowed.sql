{# The values of a column that satisfy conditions about it, by their keys; with what linked conditions say of each. #}
{% import "hierarchies/_hierarchy.sql" as parts with context %}
SELECT DISTINCT {{ parts.key(column, kind) }} AS key{{ ", CAST(" ~ signature ~ " AS TEXT) AS x" if signature }}
FROM {{ source }}
{% for condition in conditions %}
{{ "WHERE" if loop.first else "AND" }} ({{ condition }})
{% endfor %}
