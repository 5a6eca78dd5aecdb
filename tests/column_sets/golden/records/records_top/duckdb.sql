/* sqlaudit: records_top */
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
SELECT v0, n1, n2
FROM by_record
JOIN "sqlaudit_columns_codes" AS people ON by_record.record = people.rowid
ORDER BY n1 * 2 + n2 * 1 DESC, n1 DESC, n2 DESC, v0
LIMIT 3
