/* sqlaudit: events_codes */
SELECT
    CASE WHEN zip IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY zip) END AS c0,
    CASE WHEN person IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY person) END AS e
FROM patients
