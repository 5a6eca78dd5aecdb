/* sqlaudit: events_learnt */
SELECT e1, persons, MAX(holders) AS most
FROM (
    SELECT sets.e1, sets.persons, held.value, COUNT(*) AS holders
    FROM patients AS own1

    JOIN patients AS sets ON sets.e1 = own1.event AND sets.persons >= 2
    JOIN patients AS held ON held.person = own1.person AND held.value NOT IN (own1.event)
    GROUP BY sets.e1, sets.persons, held.value
) AS counted
GROUP BY e1, persons
