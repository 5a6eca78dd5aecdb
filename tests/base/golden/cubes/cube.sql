/* sqlaudit: cube */
WITH given AS (
    SELECT
"age" AS d0, "sex" AS d1, "person" AS p, "household" AS g, CAST("income" AS DECIMAL(28, 2)) AS y0, "income" * 100 AS u0
    FROM patients
),
coarsened AS (
    SELECT
given.d0 - given.d0 % 10 AS d0, given.d1 AS d1, given.p, given.g, given.y0, given.u0
    FROM given
),
contributions AS (
    SELECT
        d0, d1
        , p, COUNT(*) AS k
, MAX(g) AS e        , SUM(y0) AS v0, COUNT(y0) AS c0
, ABS(SUM(u0)) AS a0        , MIN(y0) AS lo0, MAX(y0) AS hi0
    FROM coarsened
    GROUP BY d0, d1, p
),
compared AS (
    SELECT
        contributions.*
        , COUNT(*) OVER (PARTITION BY d0, d1, v0) AS equal0
, COUNT(*) OVER (PARTITION BY d0, d1, lo0, hi0) AS alike0
    FROM contributions
),
blocks AS (
    SELECT
        d0, d1, COUNT(*) AS n, SUM(k) AS r
, COUNT(*) - COUNT(p) AS nobody, COUNT(DISTINCT e) AS h        , SUM(v0) AS s_0, SUM(c0) AS c_0, COUNT(v0) AS n_0
, COUNT(DISTINCT CASE WHEN v0 IS NOT NULL THEN e END) AS h_0        , MAX(CASE WHEN v0 IS NULL THEN 0 WHEN lo0 = hi0 AND alike0 > equal0 THEN alike0 ELSE equal0 END) AS same_0
        , COALESCE(SUM(a0), 0) AS x_0, MIN(v0) AS least_0
        , MAX(a0, 2) AS largest_0
    FROM compared
    GROUP BY d0, d1
),
sized AS (
    SELECT
        blocks.*
        , COALESCE(largest_0[1], 0) AS x1_0
        , COALESCE(largest_0[2], 0) AS x2_0
    FROM blocks
),
flagged AS (
    SELECT
        sized.*
        , CASE WHEN NOT ((n < 10 AND n <> 0) OR (n_0 < 10 AND n_0 <> 0)) THEN 0 ELSE 1 END AS f0
        , CASE WHEN NOT (((COALESCE(x1_0, 0) + COALESCE(x2_0, 0)) * 100 > x_0 * 85)) THEN 0 ELSE 1 END AS f1
        , CASE WHEN NOT ((n_0 <> 0 AND n_0 - same_0 <= 1)) THEN 0 ELSE 1 END AS f2
    FROM sized
),
judged AS (
    SELECT flagged.*, CASE WHEN f0 = 0 AND f1 = 0 AND f2 = 0 AND nobody = 0 THEN 1 ELSE 0 END AS is_safe
    FROM flagged
)
SELECT
d0 AS "age", d1 AS "sex",
    n AS people,
    CAST(r AS BIGINT) AS "rows"
    , s_0 AS "income_sum"
    , CAST(c_0 AS BIGINT) AS "income_count"
FROM judged
WHERE is_safe = 1
ORDER BY d0, d1
