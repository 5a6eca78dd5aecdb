/* sqlaudit: events_tally */
SELECT event, SUM(sets) AS sets
FROM (
    SELECT event, sets FROM patients
    UNION ALL
    SELECT e1, COUNT(*)
    FROM patients
    WHERE persons < 5 AND least_part >= 5
    GROUP BY e1
    UNION ALL
    SELECT e2, COUNT(*)
    FROM patients
    WHERE persons < 5 AND least_part >= 5
    GROUP BY e2
) AS counted
GROUP BY event
