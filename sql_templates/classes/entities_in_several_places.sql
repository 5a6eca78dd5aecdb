{# Persons that lie in more than one class or have more than one sensitive value. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, false) %}
WITH {{ parts.target(source, keys, sensitive, entity, false) }},
places AS (
    SELECT DISTINCT {{ key ~ "," if key }} e, s
    FROM target
)
SELECT COUNT(*) AS persons
FROM (SELECT e FROM places GROUP BY e HAVING COUNT(*) > 1) AS spread
