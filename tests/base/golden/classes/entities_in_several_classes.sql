/* sqlaudit: entities_in_several_classes */
WITH target AS NOT MATERIALIZED (
    SELECT
        "zip" AS q1,
        "person" AS e,
        NULL AS s
    FROM "clinic"."main"."visits"
),
combinations AS (
    SELECT DISTINCT q1, e
    FROM target
),
spread AS (
    SELECT e, COUNT(*) AS combinations
    FROM combinations
    GROUP BY e
)
SELECT COUNT(*) AS persons, COUNT(CASE WHEN combinations > 1 THEN 1 END) AS several
FROM spread
