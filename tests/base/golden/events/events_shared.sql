/* sqlaudit: events_shared */
SELECT e1, e2, persons FROM patients WHERE persons >= 2
