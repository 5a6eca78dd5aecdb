{# The key of a value. #}
{% import "_hierarchy.sql" as parts with context %}
{{ parts.key(column, kind) }}
