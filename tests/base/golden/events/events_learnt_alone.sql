/* sqlaudit: events_learnt_alone */
SELECT DISTINCT sets.one_person AS person
FROM patients AS sets
SEMI JOIN patients AS held ON held.person = sets.one_person AND held.value NOT IN (e1)
WHERE sets.persons = 1
