{# For each person how many fit all events of theirs: persons by that number. Persons with the same events are looked up once,
   through the event that the fewest fit, then through the next one (of people with one event, the same), which few survive. The
   LEFT JOIN keeps the order of the joins (see `is_found`). #}
WITH lists AS (
    SELECT person, LIST(event ORDER BY event) AS events FROM {{ own }} GROUP BY person
),
alike AS (
    SELECT MIN(person) AS person, COUNT(*) AS members, LEN(events) AS events FROM lists GROUP BY events
),
rarest AS (
    SELECT alike.person, MIN(own.event) AS event, MIN(own.event, 2)[-1] AS next
    FROM alike
    JOIN {{ own }} AS own USING (person)
    GROUP BY alike.person
),
candidates AS (
    SELECT rarest.person, fits.person AS other
    FROM rarest
    JOIN {{ fits }} AS fits USING (event)
    SEMI JOIN {{ fits }} AS next ON next.event = rarest.next AND next.person = fits.person
    SEMI JOIN alike ON alike.person = fits.person
),
matches AS (
    SELECT candidates.person, candidates.other, COUNT(fits.event) AS matched
    FROM candidates
    JOIN {{ own }} AS own ON own.person = candidates.person
    LEFT JOIN {{ fits }} AS fits ON fits.person = candidates.other AND fits.event = own.event
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
