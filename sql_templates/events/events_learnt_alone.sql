{# The persons who hold a sensitive value and have a set alone: it tells the value for certain. #}
SELECT DISTINCT sets.one_person AS person
FROM {{ sets }} AS sets
SEMI JOIN {{ held }} AS held ON held.person = sets.one_person
WHERE sets.persons = 1
