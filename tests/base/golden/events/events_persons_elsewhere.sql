/* sqlaudit: events_persons_elsewhere */
SELECT
    (
        SELECT COUNT(*)
        FROM (SELECT DISTINCT e FROM patients AS visits WHERE e IS NOT NULL) AS events
        LEFT JOIN (SELECT DISTINCT e FROM patients AS everybody) AS persons ON persons.e = events.e
        WHERE persons.e IS NULL
    ) AS missing,
    (
        SELECT COUNT(*) FROM (SELECT e FROM patients AS everybody GROUP BY e HAVING COUNT(*) > 1) AS repeated
    ) AS several
