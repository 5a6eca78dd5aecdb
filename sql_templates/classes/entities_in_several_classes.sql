{# How many persons there are, and how many of them have more than one combination of the quasi-identifiers. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, false) %}
WITH {{ parts.target(source, keys, none, entity, false) }},
combinations AS (
    SELECT DISTINCT {{ key ~ "," if key }} e
    FROM target
),
spread AS (
    SELECT e, COUNT(*) AS combinations
    FROM combinations
    GROUP BY e
)
SELECT COUNT(*) AS persons, COUNT(CASE WHEN combinations > 1 THEN 1 END) AS several
FROM spread
