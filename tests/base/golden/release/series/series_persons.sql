/* sqlaudit: series_persons */
WITH seen AS (
    SELECT "id" AS e, "disease" AS s
    FROM patients
    UNION ALL
    SELECT "id" AS e, "disease" AS s
    FROM patients
    
),
persons AS (
    SELECT COUNT(*) AS times, COUNT(DISTINCT s) + MAX(CASE WHEN s IS NULL THEN 1 ELSE 0 END) AS kinds
    FROM seen
    WHERE e IS NOT NULL
    GROUP BY e
)
SELECT
    COUNT(*) AS persons,
    COUNT(CASE WHEN times > 1 THEN 1 END) AS several,
    COUNT(CASE WHEN kinds > 1 THEN 1 END) AS changing
FROM persons
