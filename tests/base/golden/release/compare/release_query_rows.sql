/* sqlaudit: release_query_rows */
SELECT
    k1,
    CAST(COUNT(*) AS BIGINT) AS n,
    CAST(SUM(x) AS DOUBLE PRECISION) AS total,
    CAST(COUNT(x) AS BIGINT) AS present
FROM (
    SELECT
        CAST("q" AS TEXT) AS k1,
        CAST(NULL AS DOUBLE PRECISION) AS x
    FROM patients
) AS selected
GROUP BY k1
