/* sqlaudit: events_curve */
SELECT COUNT(*) FILTER (WHERE exposed <= 1) AS exposed, COUNT(*) FILTER (WHERE singled_out <= 1) AS singled_out
FROM patients
