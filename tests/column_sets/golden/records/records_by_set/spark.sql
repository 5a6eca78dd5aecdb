/* sqlaudit: records_by_set */
WITH found AS (
    
    SELECT * FROM "sqlaudit_records_uniques_0"
    UNION ALL
    SELECT * FROM "sqlaudit_records_uniques_1"
)
SELECT w0, COUNT(*) AS records
FROM found
GROUP BY w0
