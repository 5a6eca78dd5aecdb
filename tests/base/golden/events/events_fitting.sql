/* sqlaudit: events_fitting */
SELECT own.person, covers.event AS known, BOOL_OR(covers.event = own.event) AS has
FROM patients AS own
JOIN patients AS covers ON covers.fits = own.event
GROUP BY own.person, covers.event
