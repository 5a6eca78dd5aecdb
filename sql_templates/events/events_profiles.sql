{# Classes of persons who have the same events, in a `sequence` in the same order: how many classes of each size.
   Whom the number and a mix of their events already tell from everybody is alone; only the others are compared event by event. #}
WITH marks AS (
    SELECT person, COUNT(*) AS events, MIN(event) AS rarest, MAX(event) AS commonest, BIT_XOR(event) AS mixed
    FROM {{ own }}
    GROUP BY person
),
alike AS (
    SELECT events, rarest, commonest, mixed, COUNT(*) AS members FROM marks GROUP BY events, rarest, commonest, mixed
),
several AS (
    SELECT own.*
    FROM {{ own }} AS own
    SEMI JOIN (
        SELECT marks.person FROM marks JOIN alike USING (events, rarest, commonest, mixed) WHERE alike.members > 1
    ) AS people ON people.person = own.person
)
SELECT members, COUNT(*) AS classes
FROM (
    SELECT members FROM alike WHERE members = 1
    UNION ALL
    SELECT COUNT(*) AS members
{% if sequence %}
    FROM (
        SELECT LIST(CASE WHEN moment > COALESCE(last, 0) THEN event ELSE -event END ORDER BY moment, event) AS events
        FROM (
            SELECT person, event, moment, LAG(moment) OVER (PARTITION BY person ORDER BY moment, event) AS last FROM several
        ) AS placed
        GROUP BY person
    ) AS persons
{% else %}
    FROM (SELECT LIST(event ORDER BY event) AS events FROM several GROUP BY person) AS persons
{% endif %}
    GROUP BY events
) AS profiles
GROUP BY members
ORDER BY members
