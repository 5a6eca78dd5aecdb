/* sqlaudit: histogram_digests */
WITH target AS (
    SELECT
        CAST("age" AS TEXT) AS c0,
        CAST("disease" AS TEXT) AS c1
    FROM patients
),
combinations AS (
    SELECT
        c0,
        c1,
        COUNT(*) AS table_rows
    FROM target
    GROUP BY c0, c1
),
written AS (
    SELECT
        table_rows,
        CAST(table_rows AS TEXT)
        || CASE WHEN c0 IS NULL THEN '-' ELSE CAST(LENGTH(c0) AS TEXT) || ':' || c0 END
        || CASE WHEN c1 IS NULL THEN '-' ELSE CAST(LENGTH(c1) AS TEXT) || ':' || c1 END
        AS combination
    FROM combinations
),
digested AS (
    SELECT table_rows, SHA256(combination) AS digest
    FROM written
)
SELECT
    SUBSTR(digest, 1, 2) AS bucket,
    COUNT(*) AS combinations,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows,
    SHA256(STRING_AGG(digest, '' ORDER BY digest)) AS digests
FROM digested
GROUP BY SUBSTR(digest, 1, 2)
ORDER BY bucket
