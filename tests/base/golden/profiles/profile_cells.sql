/* sqlaudit: profile_cells */
WITH looked_at AS (
    SELECT "n" AS n, "region" AS d0, "month" AS d1
    FROM patients
),
combinations AS (
    SELECT COUNT(*) AS combinations
    FROM (SELECT DISTINCT d0, d1 FROM looked_at) AS seen
)
SELECT
    COUNT(*) AS total,
    MAX(combinations) AS combinations,
    SUM(CASE WHEN n < 0 OR n <> FLOOR(n) THEN 1 ELSE 0 END) AS strange
    , COUNT(DISTINCT d0) AS values_0
    , COUNT(DISTINCT d1) AS values_1
FROM looked_at
CROSS JOIN combinations
