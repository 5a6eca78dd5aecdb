/* sqlaudit: grown */
WITH given AS (
    SELECT "room" AS k1, "disease" AS v, 0 AS come
    FROM patients AS listed
    UNION ALL
    SELECT "room" AS k1, "disease" AS v, 1 AS come
    FROM patients AS listed
),
cells AS (
    SELECT k1, v, COUNT(*) AS n, SUM(come) AS come
    FROM given
    GROUP BY k1, v
),
numbered AS (
    SELECT
        DENSE_RANK() OVER (ORDER BY k1) AS class,
        n,
        come,
        SUM(come) OVER (PARTITION BY k1) AS come_to_class
    FROM cells
)
SELECT class, n - come AS n_before, n AS n_after
FROM numbered
WHERE come_to_class > 0
ORDER BY class
LIMIT 100001
