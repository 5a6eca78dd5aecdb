/* sqlaudit: records_uniques */
WITH candidates AS (
    
SELECT MIN(rowid) AS record, CAST(1 AS BIGINT) AS w0, 1 AS size
FROM patients
GROUP BY c0
HAVING COUNT(*) = 1

)
SELECT * FROM candidates
