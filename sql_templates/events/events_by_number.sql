{# Persons by how many events they have. #}
SELECT events, COUNT(*) AS persons FROM {{ state }} GROUP BY events ORDER BY events
