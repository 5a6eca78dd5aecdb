/* sqlaudit: events_fits_by_number */
SELECT events, COUNT(*) AS persons
FROM (SELECT COUNT(*) AS events FROM patients GROUP BY person) AS counted
GROUP BY events
