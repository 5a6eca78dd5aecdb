/* sqlaudit: events_ranges */
SELECT MAX(event) AS last
FROM (
    SELECT event, FLOOR(1 * (1 - POW(1 - before / CAST(NULLIF(total, 0) AS DOUBLE), 2))) AS part
    FROM (
        SELECT event, SUM(persons) OVER (ORDER BY event) - persons AS before, SUM(persons) OVER () AS total FROM patients
    ) AS placed
) AS cut
GROUP BY part
ORDER BY last
