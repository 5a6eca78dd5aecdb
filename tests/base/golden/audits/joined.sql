/* sqlaudit: joined */
WITH cells AS (
    SELECT "room" AS k1, "age" AS o1, "zip" AS o2, "disease" AS s1, COUNT(*) AS c
    FROM patients AS listed
    GROUP BY "room", "age", "zip", "disease"
),
counted AS (
    SELECT
        c,
        CAST(SUM(c) OVER (PARTITION BY k1) AS BIGINT) AS n,
        CAST(SUM(c) OVER (PARTITION BY k1, o1, o2) AS BIGINT) AS n_other,
        CAST(SUM(c) OVER (PARTITION BY k1, s1) AS BIGINT) AS n_value
    FROM cells
),
rooted AS (
    SELECT c, n, n_other, n_value, CAST(ROUND(SQRT(n)) AS BIGINT) AS m FROM counted
)
SELECT
    COUNT(CASE WHEN m * m = n AND c * n = n_other * n_value AND n_other % m = 0 AND n_value % m = 0 THEN NULL ELSE 1 END) AS odd,
    COUNT(CASE WHEN n >= 9 AND n_other < n AND n_value < n THEN 1 END) AS telling
FROM rooted
