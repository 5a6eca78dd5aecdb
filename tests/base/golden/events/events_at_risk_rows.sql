/* sqlaudit: events_at_risk_rows */
SELECT person, events, exposed, singled_out FROM patients ORDER BY singled_out NULLS LAST, exposed, events, person
