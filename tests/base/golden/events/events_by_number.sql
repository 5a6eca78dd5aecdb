/* sqlaudit: events_by_number */
SELECT events, COUNT(*) AS persons FROM patients GROUP BY events ORDER BY events
