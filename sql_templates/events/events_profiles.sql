{# Classes of persons who have the same events, in a `sequence` in the same order: how many classes of each size. #}
SELECT members, COUNT(*) AS classes
FROM (
    SELECT COUNT(*) AS members
{% if sequence %}
    FROM (
        SELECT LIST(CASE WHEN moment > COALESCE(last, 0) THEN event ELSE -event END ORDER BY moment, event) AS events
        FROM (
            SELECT person, event, moment, LAG(moment) OVER (PARTITION BY person ORDER BY moment, event) AS last FROM {{ own }}
        ) AS placed
        GROUP BY person
    ) AS persons
{% else %}
    FROM (SELECT LIST(event ORDER BY event) AS events FROM {{ own }} GROUP BY person) AS persons
{% endif %}
    GROUP BY events
) AS profiles
GROUP BY members
ORDER BY members
