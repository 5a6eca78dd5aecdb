/* sqlaudit: records_signatures */
WITH found AS (
    
    SELECT * FROM "sqlaudit_records_uniques_0"
    UNION ALL
    SELECT * FROM "sqlaudit_records_uniques_1"
),
by_record AS (
    SELECT
        record
        , SUM(CASE WHEN size = 1 THEN 1 ELSE 0 END) AS n1
        , SUM(CASE WHEN size = 2 THEN 1 ELSE 0 END) AS n2
    FROM found
    GROUP BY record
)
SELECT n1, n2, COUNT(*) AS records
FROM by_record
GROUP BY n1, n2
