/* sqlaudit: events_first_level */
SELECT MIN(persons) AS smallest, COUNT(*) FILTER (WHERE persons < 5) AS minimal
FROM patients
WHERE repeated IS NULL
