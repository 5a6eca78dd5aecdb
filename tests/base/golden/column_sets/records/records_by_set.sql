/* sqlaudit: records_by_set */
WITH found AS (
    
    SELECT * FROM patients
)
SELECT w0, COUNT(*) AS records
FROM found
GROUP BY w0
