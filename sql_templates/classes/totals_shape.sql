{# How many sensitive values there are, before any of them is read. #}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, [], sensitive, entity, false) }}
SELECT
    COUNT(DISTINCT s) + COALESCE(MAX(CASE WHEN s IS NULL THEN 1 ELSE 0 END), 0) AS distinct_values,
    COALESCE(SUM(CASE WHEN s IS NULL THEN 1 ELSE 0 END), 0) AS null_rows,
    COUNT(*) AS table_rows,
    {% if entity is not none %}
    COALESCE(SUM(CASE WHEN e IS NULL THEN 1 ELSE 0 END), 0) AS rows_without_entity
    {% else %}
    0 AS rows_without_entity
    {% endif %}
FROM target
