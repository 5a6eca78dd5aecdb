/* sqlaudit: events_names */
SELECT * FROM patients
