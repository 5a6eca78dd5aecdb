/* sqlaudit: events_near_own */
SELECT person, event FROM patients WHERE has
