/* sqlaudit: tabular_contributions */
WITH listed AS (
    SELECT
"region" AS d0, "month" AS d1, "person" AS p, "cost" AS v, "household" AS h
    FROM patients

)
, contributions AS (
    SELECT
        d0, d1, GROUPING(d0) AS t0, GROUPING(d1) AS t1, p
, COALESCE(SUM(v), 0) AS v, MAX(h) AS h
    FROM listed
    GROUP BY GROUPING SETS ((d0, p), (d0, d1, p), (p))
)
, cells AS (
    SELECT
        d0, d1, t0, t1, COUNT(*) AS n
, SUM(v) AS x, MIN(v) AS least, COUNT(*) - COUNT(p) AS nobody, COUNT(DISTINCT h) AS h        , MAX(v, 2) AS largest

    FROM contributions
    GROUP BY d0, d1, t0, t1
)
SELECT cells.*, largest[1] AS x1, largest[2] AS x2
FROM cells
