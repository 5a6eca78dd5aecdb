/* sqlaudit: tabular_cells */
WITH listed AS MATERIALIZED (
    SELECT
"region" AS d0, "month" AS d1, "n" AS m0
    FROM patients
)
, dictionary_0 AS (
    SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS INTEGER) AS code
    FROM (SELECT DISTINCT d0 AS value FROM listed WHERE d0 IS NOT NULL) AS seen
)
, dictionary_1 AS (
    SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS INTEGER) AS code
    FROM (SELECT DISTINCT d1 AS value FROM listed WHERE d1 IS NOT NULL) AS seen
)
SELECT
    COALESCE(dictionary_0.code, 0) AS d0,
    COALESCE(dictionary_1.code, 0) AS d1,
    listed.m0
FROM listed
LEFT JOIN dictionary_0 ON listed.d0 = dictionary_0.value
LEFT JOIN dictionary_1 ON listed.d1 = dictionary_1.value
