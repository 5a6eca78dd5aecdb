/* sqlaudit: tabular_labels */
WITH listed AS MATERIALIZED (
    SELECT
"region" AS d0
    FROM patients
)
, dictionary_0 AS (
    SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS INTEGER) AS code
    FROM (SELECT DISTINCT d0 AS value FROM listed WHERE d0 IS NOT NULL) AS seen
)

SELECT 0 AS dimension, code, CAST(value AS VARCHAR) AS label
FROM dictionary_0
WHERE code IN (1, 2)
