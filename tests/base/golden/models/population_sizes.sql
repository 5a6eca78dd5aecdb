/* sqlaudit: population_sizes */
WITH target AS (
    SELECT
        "c1" AS q1
    FROM patients
),
population AS (
    SELECT
        "sex" AS q1
    FROM patients
),
both_sides AS (
    SELECT q1, COUNT(*) AS members, COUNT(*) AS table_rows, 0 AS people
    FROM target
    GROUP BY q1
    UNION ALL
    SELECT q1, 0, 0, COUNT(*)
    FROM population
    GROUP BY q1
),
matched AS (
    SELECT
        q1,
        CAST(SUM(members) AS BIGINT) AS members,
        CAST(SUM(table_rows) AS BIGINT) AS table_rows,
        CAST(SUM(people) AS BIGINT) AS people
    FROM both_sides
    GROUP BY q1
)
SELECT
    people AS size,
    COUNT(*) AS classes,
    CAST(SUM(CASE WHEN members > 0 THEN 1 ELSE 0 END) AS BIGINT) AS met,
    CAST(SUM(members) AS BIGINT) AS members,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows,
    MIN(members) AS fewest,
    MAX(members) AS most,
    CAST(SUM(CASE WHEN 1 = 0 THEN 1 ELSE 0 END) AS BIGINT) AS failing,
    CAST(SUM(CASE WHEN 1 = 0 THEN table_rows ELSE 0 END) AS BIGINT) AS failing_rows,
    CAST(SUM(CASE WHEN members > people THEN 1 ELSE 0 END) AS BIGINT) AS too_many
FROM matched
WHERE members > 0 OR people > 0
GROUP BY people
ORDER BY people
