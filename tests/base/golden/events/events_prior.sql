/* sqlaudit: events_prior */
SELECT MAX(holders) AS most FROM (SELECT COUNT(*) AS holders FROM patients GROUP BY value) AS counted
