/* sqlaudit: events_profiles */
SELECT members, COUNT(*) AS classes
FROM (
    SELECT COUNT(*) AS members
    FROM (SELECT LIST(event ORDER BY event) AS events FROM patients GROUP BY person) AS persons
    GROUP BY events
) AS profiles
GROUP BY members
ORDER BY members
