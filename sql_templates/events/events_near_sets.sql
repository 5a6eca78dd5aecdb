{# Sets that somebody has, where events match when they are near: beside those who have a set, now `holders`, the persons who
   fit it. Most pairs of events that a person fits are no one's, so that they are looked up among the sets before they are counted. #}
{% import "events/_events_sets.sql" as parts with context %}
SELECT sets.* EXCLUDE (persons), sets.persons AS holders, counted.persons
FROM {{ sets }} AS sets
JOIN (
    SELECT {% for place in range(1, size + 1) %}own{{ place }}.event AS e{{ place }}, {% endfor %}COUNT(*) AS persons
    FROM {{ parts.of_persons(fits, size) }}
    SEMI JOIN {{ sets }} AS sets ON {{ parts.is_set(size, "sets") }}
    WHERE own1.event BETWEEN {{ low }} AND {{ high }}
    GROUP BY {% for place in range(1, size + 1) %}own{{ place }}.event{{ ", " if not loop.last }}{% endfor %}

) AS counted USING ({{ parts.names(size) }})
