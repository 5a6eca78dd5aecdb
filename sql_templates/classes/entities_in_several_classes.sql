{# How many persons there are, and how many of them have more than one combination of the quasi-identifiers. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, false) %}
WITH {{ parts.target(source, keys, none, entity, false) }},
{% if dialect == "duckdb" and key %}
{{ parts.numbered(key) }},
spread AS (
    SELECT e, MIN(combination) < MAX(combination) AS several
    FROM numbered_rows
{% else %}
spread AS (
    SELECT e, COUNT(*) > 1 AS several
    FROM (SELECT DISTINCT {{ key ~ "," if key }} e FROM target) AS combinations
{% endif %}
    GROUP BY e
)
SELECT COUNT(*) AS persons, COUNT(CASE WHEN several THEN 1 END) AS several
FROM spread
