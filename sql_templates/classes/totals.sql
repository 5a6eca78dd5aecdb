{# The sensitive attribute over the whole table: one row a value, by rank. #}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, [], sensitive, entity, false) }},
{{ parts.lanes(entity, text) }}
SELECT lane, s, total
FROM lanes
ORDER BY lane
