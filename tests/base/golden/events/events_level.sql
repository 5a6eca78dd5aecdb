/* sqlaudit: events_level */
SELECT
    COUNT(*) AS total,
    MIN(persons) AS smallest,
    COUNT(*) FILTER (WHERE persons < 5 AND least_part >= 5) AS minimal,
    COUNT(*) FILTER (WHERE persons > 4 AND persons < 5) AS unnamed,
    COUNT(*) FILTER (WHERE persons >= 2) AS shared
FROM patients
