/* sqlaudit: events_occurrences */
WITH coded AS (
    SELECT
        e AS person,
        c0 AS k0,
    FROM patients
)
SELECT
    person,
    k0,
    0 AS own_row,
    1 AS nth
FROM coded
GROUP BY person, k0
