/* sqlaudit: events_at_risk */
SELECT person, events, exposed, singled_out
FROM patients
WHERE exposed IS NOT NULL
ORDER BY singled_out NULLS LAST, exposed, events, person
LIMIT 10
