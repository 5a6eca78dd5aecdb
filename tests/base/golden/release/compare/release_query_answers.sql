/* sqlaudit: release_query_answers */
WITH coded AS (
    SELECT
        COALESCE(cells_1.code, 0) AS g1,
        released.n, released.total, released.present
    FROM patients AS released
    LEFT JOIN patients AS cells_1 ON released.k1 = cells_1.t
),
keyed AS (
    SELECT *, CAST(g1 AS BIGINT) AS c
    FROM coded
),
weighed AS (
    SELECT
        keyed.n, keyed.total, keyed.present,
        1 AS independent,
        CAST(1 AS DOUBLE) AS conditional
    FROM keyed
),
answered AS (
    SELECT
        SUM(total * NULLIF(1, 0)) AS plain,
        SUM(total * NULLIF(conditional, 0)) AS conditional,
        SUM(total * NULLIF(independent, 0)) AS independent
    FROM weighed
),
truth AS (
    SELECT
        total AS truth
    FROM patients
)
SELECT
    CAST(truth.truth AS DOUBLE) AS truth,
    CAST(answered.plain AS DOUBLE) AS plain,
    CAST(answered.conditional AS DOUBLE) AS conditional,
    CAST(answered.independent AS DOUBLE) AS independent
FROM truth
FULL JOIN answered
    ON TRUE
ORDER BY truth
LIMIT 100001
