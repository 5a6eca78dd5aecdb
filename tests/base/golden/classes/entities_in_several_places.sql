/* sqlaudit: entities_in_several_places */
WITH target AS NOT MATERIALIZED (
    SELECT
        "room" AS q1,
        "person" AS e,
        "disease" AS s
    FROM patients
),
places AS (
    SELECT DISTINCT q1, e, s
    FROM target
)
SELECT COUNT(*) AS persons
FROM (SELECT e FROM places GROUP BY e HAVING COUNT(*) > 1) AS spread
