/* sqlaudit: events_single_sets */
SELECT event AS e1, persons, persons AS least_part FROM patients WHERE repeated IS NULL AND persons >= 2
