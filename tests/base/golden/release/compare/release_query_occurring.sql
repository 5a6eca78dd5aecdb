/* sqlaudit: release_query_occurring */
SELECT DISTINCT CAST(x AS BIGINT) AS x
FROM patients AS counted
ORDER BY x
