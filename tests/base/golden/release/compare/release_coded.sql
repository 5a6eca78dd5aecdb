/* sqlaudit: release_coded */
WITH numbered AS (
    SELECT
        CASE WHEN seen.in_original = 1 THEN CAST(COALESCE(values_1.id, -1) AS INTEGER) END AS v1,
        seen.n
    FROM patients AS seen
    LEFT JOIN patients AS values_1 ON seen.v1 = values_1.v
),
counted AS (
    SELECT v1, CAST(SUM(n) AS BIGINT) AS n
    FROM numbered
    GROUP BY v1
)
SELECT
    CAST(v1 AS BIGINT) AS q,
    CAST(NULL AS BIGINT) AS c,
    v1,
    n
FROM counted
