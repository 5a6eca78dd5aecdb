/* sqlaudit: events_totals */
SELECT
    COUNT(*) AS events,
    COALESCE(SUM(persons), 0) AS pairs,
    COALESCE(MIN(event) FILTER (WHERE persons >= 2), MAX(event) + 1) AS first_shared,
    COALESCE(MIN(event) FILTER (WHERE persons >= 5), MAX(event) + 1) AS first_safe
FROM patients
