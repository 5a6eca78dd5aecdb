/* sqlaudit: events_event_codes */
SELECT event, k0 FROM patients WHERE event IN (1, 2)
