/* sqlaudit: events_held */
SELECT DISTINCT CAST(e AS INTEGER) AS person, c1 AS value FROM patients WHERE c1 <> 0
