{# Each single event as a set of one, with one of the persons who have it. #}
SELECT dictionary.event AS e1, dictionary.persons, MIN(own.person) AS one_person
FROM {{ own }} AS own
JOIN {{ dictionary }} AS dictionary USING (event)
WHERE dictionary.repeated IS NULL
GROUP BY dictionary.event, dictionary.persons
