{# Who has an event that fits a known one, and whether it is that one. #}
SELECT own.person, covers.event AS known, BOOL_OR(covers.event = own.event) AS has
FROM {{ own }} AS own
JOIN {{ covers }} AS covers ON covers.fits = own.event
GROUP BY own.person, covers.event
