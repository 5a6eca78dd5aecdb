/* sqlaudit: events_fits */
SELECT fitting.person, dictionary.event, fitting.has
FROM patients AS fitting
JOIN patients AS dictionary USING (known)
