/* sqlaudit: events_mixed_own */
SELECT own.person, mixed.event
FROM patients AS own
JOIN patients AS mixed ON mixed.place = 0 AND mixed.item = own.event
UNION ALL
SELECT held.person, mixed.event
FROM patients AS held
JOIN patients AS mixed ON mixed.place = 2 AND mixed.item = held.value
