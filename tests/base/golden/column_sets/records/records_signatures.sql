/* sqlaudit: records_signatures */
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
SELECT n1, COUNT(*) AS records
FROM by_record
GROUP BY n1
