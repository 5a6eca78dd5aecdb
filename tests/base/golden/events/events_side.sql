/* sqlaudit: events_side */
SELECT DISTINCT
    zip AS c0,
    person AS e
FROM patients
WHERE person IS NOT NULL
