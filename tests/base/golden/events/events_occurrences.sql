/* sqlaudit: events_occurrences */
WITH coded AS (
    SELECT
        e AS person,
        c0 AS k0,
        0 AS own_row
    FROM patients
)
SELECT
    person,
    k0,
    own_row,
    1 AS nth
FROM coded
GROUP BY person, k0, own_row
