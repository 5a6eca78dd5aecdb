{# By the number of events of a person: how many of the person's sets of this size somebody else has, too. #}
{% import "events/_events_sets.sql" as parts with context %}
SELECT state.events, COUNT(*) AS shared
FROM {{ parts.of_persons(own, size) }}
JOIN {{ sets }} AS sets ON {{ parts.is_set(size, "sets") }}
JOIN {{ state }} AS state ON state.person = own1.person
WHERE sets.persons >= 2
GROUP BY state.events
