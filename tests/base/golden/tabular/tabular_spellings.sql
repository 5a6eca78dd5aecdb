/* sqlaudit: tabular_spellings */
WITH listed AS MATERIALIZED (
    SELECT
"region" AS d0, "month" AS d1
    FROM "published"
)
, dictionary_0 AS (
    SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS INTEGER) AS code
    FROM (SELECT DISTINCT d0 AS value FROM listed WHERE d0 IS NOT NULL) AS seen
)
, dictionary_1 AS (
    SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS INTEGER) AS code
    FROM (SELECT DISTINCT d1 AS value FROM listed WHERE d1 IS NOT NULL) AS seen
)

SELECT dimension, code
FROM (
    SELECT
        0 AS dimension,
        code,
        COUNT(*) OVER (PARTITION BY LOWER(TRIM(CAST(value AS VARCHAR)))) AS spellings
    FROM dictionary_0
) AS spelled_0
WHERE spellings > 1
UNION ALL
SELECT dimension, code
FROM (
    SELECT
        1 AS dimension,
        code,
        COUNT(*) OVER (PARTITION BY LOWER(TRIM(CAST(value AS VARCHAR)))) AS spellings
    FROM dictionary_1
) AS spelled_1
WHERE spellings > 1
