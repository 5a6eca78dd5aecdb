{# The persons who hold a sensitive value and have a set alone: it tells the value for certain. #}
{% import "events/_events_sets.sql" as parts with context %}
SELECT DISTINCT sets.one_person AS person
FROM {{ sets }} AS sets
SEMI JOIN {{ held }} AS held ON held.person = sets.one_person{% if mixed %} AND held.value NOT IN ({{ parts.names(size) }}){% endif %}

WHERE sets.persons = 1
