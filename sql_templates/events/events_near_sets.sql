{# Sets that somebody has, where events match when they are near: beside those who have a set, now `holders`, the persons who
   fit it. Either everybody who fits the rarest event is looked up in the others, or, `by_person`, where most people fit many
   events, the sets that each person fits are looked up among these. #}
{% import "events/_events_sets.sql" as parts with context %}
WITH counted AS (
{% if by_person %}
    SELECT {% for place in range(1, size + 1) %}own{{ place }}.event AS e{{ place }}, {% endfor %}COUNT(*) AS persons
    FROM {{ parts.of_persons(fits, size) }}
    SEMI JOIN {{ sets }} AS sets ON {{ parts.is_set(size, "sets") }}
    WHERE own1.event BETWEEN {{ low }} AND {{ high }}
    GROUP BY {% for place in range(1, size + 1) %}own{{ place }}.event{{ ", " if not loop.last }}{% endfor %}

{% else %}
    SELECT {{ parts.names(size) }}, COUNT(own{{ size }}.person) AS persons
    FROM {{ sets }} AS sets
    JOIN {{ fits }} AS own1 ON own1.event = sets.e1
{% for place in range(2, size + 1) %}
    LEFT JOIN {{ fits }} AS own{{ place }} ON own{{ place }}.event = sets.e{{ place }} AND own{{ place }}.person = own{{ place - 1 }}.person
{% endfor %}
    GROUP BY {{ parts.names(size) }}
{% endif %}
)
SELECT sets.* EXCLUDE (persons), sets.persons AS holders, counted.persons
FROM {{ sets }} AS sets
JOIN counted USING ({{ parts.names(size) }})
