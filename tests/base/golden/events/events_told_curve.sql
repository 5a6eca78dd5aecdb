/* sqlaudit: events_told_curve */
SELECT
    COUNT(*) FILTER (WHERE told.known <= 1) AS told,
    COUNT(*) FILTER (WHERE told.known <= 1 OR state.exposed <= 1) AS exposed
FROM patients AS state
LEFT JOIN patients AS told USING (person)
