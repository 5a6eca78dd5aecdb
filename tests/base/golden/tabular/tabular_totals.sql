/* sqlaudit: tabular_totals */
WITH listed AS MATERIALIZED (
    SELECT
"region" AS d0, "month" AS d1
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

SELECT 0 AS dimension, code
FROM dictionary_0
WHERE CAST(value AS VARCHAR) = $1
UNION ALL
SELECT 1 AS dimension, code
FROM dictionary_1
WHERE LOWER(TRIM(CAST(value AS VARCHAR))) IN ('total', 'all', 'sum', 'overall', 'gesamt', 'insgesamt', 'ensemble', 'totale', 'totaal', '_total', '__total__', '(all)')
