/* sqlaudit: events_own */
SELECT CAST(occurrences.person AS INTEGER) AS person, dictionary.event
FROM patients AS occurrences
JOIN patients AS dictionary USING (k0, own_row, nth)
ORDER BY dictionary.event
