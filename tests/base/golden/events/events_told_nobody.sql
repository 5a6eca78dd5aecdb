/* sqlaudit: events_told_nobody */
SELECT CAST(NULL AS INTEGER) AS person, CAST(NULL AS INTEGER) AS known WHERE FALSE
