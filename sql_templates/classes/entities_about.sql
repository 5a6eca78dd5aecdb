{# How many rows there are, and about how many persons. #}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, [], none, entity, false) }}
SELECT COUNT(*) AS table_rows, APPROX_COUNT_DISTINCT(e) AS persons
FROM target
