/* sqlaudit: columns_codes */
WITH lows AS (
    SELECT
        MIN(c1) AS low_c1,
        COUNT(*) AS total
    FROM "sqlaudit_columns_rows"
)
, dictionary_c0 AS (
    SELECT value, ROW_NUMBER() OVER () AS code
    FROM (SELECT DISTINCT c0 AS value FROM "sqlaudit_columns_rows" WHERE c0 IS NOT NULL) AS seen
)
, dictionary_c2 AS (
    SELECT value, ROW_NUMBER() OVER () AS code
    FROM (SELECT DISTINCT c2 AS value FROM "sqlaudit_columns_rows" WHERE c2 IS NOT NULL) AS seen
)
SELECT
    CAST(COALESCE(dictionary_c0.code, 0) AS INTEGER) AS c0,
    CAST(COALESCE(CAST(source.c1 AS HUGEINT) - low_c1 + 1, 0) AS INTEGER) AS c1,
    CAST(COALESCE(dictionary_c2.code, 0) AS INTEGER) AS c2
FROM "sqlaudit_columns_rows" AS source
CROSS JOIN lows
LEFT JOIN dictionary_c0 ON source.c0 = dictionary_c0.value
LEFT JOIN dictionary_c2 ON source.c2 = dictionary_c2.value
