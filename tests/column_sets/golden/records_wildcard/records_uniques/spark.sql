/* sqlaudit: records_uniques */
WITH candidates AS (
    
SELECT MIN(rowid) AS record, CAST(1 AS BIGINT) AS w0, 1 AS size
FROM "sqlaudit_columns_codes"
WHERE NOT (c0 = 0)
GROUP BY c0
HAVING COUNT(*) = 1
UNION ALL
SELECT MIN(rowid) AS record, CAST(2 AS BIGINT) AS w0, 1 AS size
FROM "sqlaudit_columns_codes"
WHERE NOT (c1 = 0)
GROUP BY c1
HAVING COUNT(*) = 1
UNION ALL
SELECT MIN(rowid) AS record, CAST(4 AS BIGINT) AS w0, 1 AS size
FROM "sqlaudit_columns_codes"
GROUP BY c2
HAVING COUNT(*) = 1

)
SELECT * FROM candidates
