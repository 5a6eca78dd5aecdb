/* sqlaudit: events_unsteady */
SELECT
    COUNT(*) FILTER (WHERE c1_low <> c1_high) AS c1
FROM (
    SELECT
        MIN(c1) AS c1_low, MAX(c1) AS c1_high
    FROM patients
    GROUP BY e
) AS persons
