/* sqlaudit: events_singles */
SELECT dictionary.event AS e1, dictionary.persons, MIN(own.person) AS one_person
FROM patients AS own
JOIN patients AS dictionary USING (event)
WHERE dictionary.repeated IS NULL
GROUP BY dictionary.event, dictionary.persons
