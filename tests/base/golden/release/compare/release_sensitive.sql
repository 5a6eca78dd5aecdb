/* sqlaudit: release_sensitive */
SELECT
    v AS v,
    CAST(v AS TEXT) AS t,
    CAST(row_count AS BIGINT) AS n
FROM (
    SELECT v, COUNT(*) AS row_count
    FROM (
        SELECT "s" AS v
        FROM patients
    ) AS target
    GROUP BY v
) AS counted
