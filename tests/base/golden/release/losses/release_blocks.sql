/* sqlaudit: release_blocks */
SELECT
    key,
    CAST(SUM(n) AS BIGINT) AS n,
    CAST([] AS BIGINT[]) AS lanes
FROM (
    SELECT q AS key, CAST(SUM(n) AS BIGINT) AS n
    FROM patients
    WHERE q IS NOT NULL
    GROUP BY q
) AS cells
GROUP BY key
