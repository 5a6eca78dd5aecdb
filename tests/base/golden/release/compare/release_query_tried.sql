/* sqlaudit: release_query_tried */
SELECT number
FROM (
    SELECT 0 AS number, CAST('5' AS BIGINT) AS "q"
    
) AS tried
WHERE ("q" = 5)
ORDER BY number
