{# The sensitive attribute over the whole table: one row a value, by rank, of so many values at most; and what
   totals_shape.sql asks of it, so that one scan tells both. #}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, [], sensitive, entity, false) }},
{{ parts.lanes(entity, text, true, most) }}
SELECT lane, s, total, null_rows, rows_without_entity
FROM lanes
ORDER BY lane
