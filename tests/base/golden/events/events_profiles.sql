/* sqlaudit: events_profiles */
WITH marks AS (
    SELECT person, COUNT(*) AS events, MIN(event) AS rarest, MAX(event) AS commonest, BIT_XOR(event) AS mixed
    FROM patients
    GROUP BY person
),
alike AS (
    SELECT events, rarest, commonest, mixed, COUNT(*) AS members FROM marks GROUP BY events, rarest, commonest, mixed
),
several AS (
    SELECT own.*
    FROM patients AS own
    SEMI JOIN (
        SELECT marks.person FROM marks JOIN alike USING (events, rarest, commonest, mixed) WHERE alike.members > 1
    ) AS people ON people.person = own.person
)
SELECT members, COUNT(*) AS classes
FROM (
    SELECT members FROM alike WHERE members = 1
    UNION ALL
    SELECT COUNT(*) AS members
    FROM (SELECT LIST(event ORDER BY event) AS events FROM several GROUP BY person) AS persons
    GROUP BY events
) AS profiles
GROUP BY members
ORDER BY members
