/* sqlaudit: events_shared_draws */
SELECT state.events, COUNT(*) AS shared
FROM patients AS own1

JOIN patients AS sets ON sets.e1 = own1.event
JOIN patients AS state ON state.person = own1.person
WHERE sets.persons >= 2
GROUP BY state.events
