/* sqlaudit: events_values_at */
SELECT place, value
FROM (
    SELECT value, ROW_NUMBER() OVER (ORDER BY value) AS place
    FROM (SELECT DISTINCT zip AS value FROM patients WHERE zip IS NOT NULL) AS seen
) AS placed
WHERE place IN (1, 2)
