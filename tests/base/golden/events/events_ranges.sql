/* sqlaudit: events_ranges */
SELECT MAX(event) AS last
FROM (
    SELECT event, (SUM(persons) OVER (ORDER BY event) - persons) * 1 // NULLIF(SUM(persons) OVER (), 0) AS part
    FROM patients
) AS cut
GROUP BY part
ORDER BY last
