/* sqlaudit: events_mixed_held */
SELECT held.person, mixed.event AS value
FROM patients AS held
JOIN patients AS mixed ON mixed.place = 2 AND mixed.item = held.value
