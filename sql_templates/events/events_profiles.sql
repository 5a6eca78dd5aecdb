{# Classes of persons who have the same events: how many classes of each size. #}
SELECT members, COUNT(*) AS classes
FROM (
    SELECT COUNT(*) AS members
    FROM (SELECT LIST(event ORDER BY event) AS events FROM {{ own }} GROUP BY person) AS persons
    GROUP BY events
) AS profiles
GROUP BY members
ORDER BY members
