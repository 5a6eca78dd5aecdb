/* sqlaudit: events_static_classes */
SELECT MIN(persons) AS smallest
FROM (
    SELECT COUNT(DISTINCT e) AS persons
    FROM patients
    GROUP BY c1
) AS classes
