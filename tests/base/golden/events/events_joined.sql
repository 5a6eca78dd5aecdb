/* sqlaudit: events_joined */
SELECT
    events.c0,
    persons.s0,
    events.e
FROM patients AS events
LEFT JOIN patients AS persons ON persons.e = events.e
