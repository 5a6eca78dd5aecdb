/* sqlaudit: events_drawn_persons */
SELECT place, events
FROM (SELECT ROW_NUMBER() OVER (ORDER BY person) - 1 AS place, events FROM patients) AS placed
JOIN patients USING (place)
ORDER BY place
