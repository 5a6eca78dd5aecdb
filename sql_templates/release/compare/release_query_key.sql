{# The key of a value. #}
{% import "hierarchies/_hierarchy.sql" as parts with context %}
{{ parts.key(column, kind) }}
