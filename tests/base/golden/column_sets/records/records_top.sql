/* sqlaudit: records_top */
WITH found AS (
    
    SELECT * FROM patients
),
by_record AS (
    SELECT
        record
        , SUM(CASE WHEN size = 1 THEN 1 ELSE 0 END) AS n1
    FROM found
    GROUP BY record
)
SELECT v0, n1
FROM by_record
JOIN patients AS people ON by_record.record = people.rowid
ORDER BY n1 * 2 DESC, n1 DESC, v0
LIMIT 50
