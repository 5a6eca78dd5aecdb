/* sqlaudit: columns_count_mixed */
WITH people AS (
SELECT
    "a" AS c0,
    "person" AS e

    FROM "public"."searched"
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
        DENSE_RANK() OVER (ORDER BY c0) AS full_row
    FROM people
)

SELECT 0 AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    GROUP BY c2
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
