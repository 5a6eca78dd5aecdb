{# The chosen columns of the target under short names, read once. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
{{ parts.rows(columns, entity, kept) }}
FROM {{ source }}
