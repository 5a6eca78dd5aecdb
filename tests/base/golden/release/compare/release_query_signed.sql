/* sqlaudit: release_query_signed */
SELECT DISTINCT CAST("q" AS VARCHAR) AS key, CAST(0 AS TEXT) AS x
FROM patients
