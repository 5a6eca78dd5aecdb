/* sqlaudit: events_near_profiles */
WITH lists AS (
    SELECT person, LIST(event ORDER BY event) AS events FROM patients GROUP BY person
),
alike AS (
    SELECT MIN(person) AS person, COUNT(*) AS members, LEN(events) AS events FROM lists GROUP BY events
),
rarest AS (
    SELECT alike.person, MIN(own.event) AS event FROM alike JOIN patients AS own USING (person) GROUP BY alike.person
),
candidates AS (
    SELECT rarest.person, fits.person AS other
    FROM rarest
    JOIN patients AS fits USING (event)
    SEMI JOIN alike ON alike.person = fits.person
),
matches AS (
    SELECT candidates.person, candidates.other, COUNT(*) AS matched
    FROM candidates
    JOIN patients AS own ON own.person = candidates.person
    JOIN patients AS fits ON fits.person = candidates.other AND fits.event = own.event
    GROUP BY candidates.person, candidates.other
),
fitting AS (
    SELECT alike.person, alike.members, SUM(others.members) AS fit
    FROM matches
    JOIN alike ON alike.person = matches.person AND alike.events = matches.matched
    JOIN alike AS others ON others.person = matches.other
    GROUP BY alike.person, alike.members
)
SELECT fit, SUM(members) AS persons FROM fitting GROUP BY fit ORDER BY fit
