/* sqlaudit: release_query_allowed */
SELECT DISTINCT CAST("q" AS VARCHAR) AS key
FROM patients
WHERE ("q" = 5)
