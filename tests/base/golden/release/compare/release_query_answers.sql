/* sqlaudit: release_query_answers */
WITH coded AS (
    SELECT
        COALESCE(cells_1.code, 0) AS g1,
        CAST(released.k2 AS BIGINT) AS others,
        released.n, released.total, released.present
    FROM patients AS released
    LEFT JOIN patients AS cells_1 ON released.k1 = cells_1.t
),
keyed AS (
    SELECT *, ROW_NUMBER() OVER () AS id, CAST(g1 AS BIGINT) AS c
    FROM coded
),
weighed AS (
    SELECT
        keyed.id, keyed.n, keyed.total, keyed.present,
        1 AS independent,
        CAST(1 AS DOUBLE) AS conditional
    FROM keyed
    JOIN patients AS met
        ON keyed.others = met.others
),
together AS (
    SELECT
        id, n, total, present,
        SUM(independent) AS independent,
        SUM(conditional) AS conditional
    FROM weighed
    GROUP BY id, n, total, present
),
answered AS (
    SELECT
        SUM(total * NULLIF(1, 0)) AS plain,
        SUM(total * NULLIF(conditional, 0)) AS conditional,
        SUM(total * NULLIF(independent, 0)) AS independent
    FROM together
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
