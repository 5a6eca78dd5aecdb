/* sqlaudit: events_some */
SELECT 1 AS some FROM patients LIMIT 1
