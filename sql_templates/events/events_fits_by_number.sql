{# Persons by how many events they fit. #}
SELECT events, COUNT(*) AS persons
FROM (SELECT COUNT(*) AS events FROM {{ fits }} GROUP BY person) AS counted
GROUP BY events
