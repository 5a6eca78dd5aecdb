/* sqlaudit: attack_neighbours */
WITH mine AS NOT MATERIALIZED (
    SELECT COALESCE('=' || CAST("job" AS VARCHAR), '') AS m1, ROW_NUMBER() OVER () AS place FROM patients
),
theirs AS NOT MATERIALIZED (
    SELECT COALESCE('=' || CAST("job" AS VARCHAR), '') AS m1, ROW_NUMBER() OVER () AS place FROM patients
),
neighbours AS MATERIALIZED (
    SELECT
        mine.m1 AS mine_m1,
        LEAD(theirs.m1) OVER (ORDER BY mine.place) AS next_m1,
        LAG(theirs.m1) OVER (ORDER BY mine.place) AS last_m1
    FROM mine
    JOIN theirs ON mine.place = theirs.place
)
SELECT
    COUNT(*) AS pairs,
    CAST(COALESCE(SUM(CASE WHEN (mine_m1 = next_m1) AND 1 = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS fitting
FROM neighbours
WHERE NOT next_m1 IS NULL

UNION ALL
SELECT
    COUNT(*) AS pairs,
    CAST(COALESCE(SUM(CASE WHEN (mine_m1 = last_m1) AND 1 = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS fitting
FROM neighbours
WHERE NOT last_m1 IS NULL
