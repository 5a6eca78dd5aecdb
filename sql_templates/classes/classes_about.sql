{# About how many classes there are, in one pass and little memory: how many parts they are best counted in. #}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, keys, none, none, false) }}
SELECT APPROX_COUNT_DISTINCT(HASH({% for key in keys %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %})) AS classes
FROM target
