/* sqlaudit: persons_respelled */
SELECT COUNT(*) AS persons
FROM (
    SELECT LOWER("person") AS reading
    FROM (
        SELECT "person" AS person FROM "visits"
        UNION ALL
        SELECT "who" AS person FROM "june"
        
    ) AS named
    WHERE person IS NOT NULL
    GROUP BY LOWER("person")
    HAVING COUNT(DISTINCT person) > 1
) AS found
