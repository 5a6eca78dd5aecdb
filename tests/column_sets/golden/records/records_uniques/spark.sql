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
;
/* sqlaudit: records_uniques */
WITH candidates AS (
    
SELECT MIN(rowid) AS record, CAST(3 AS BIGINT) AS w0, 2 AS size
FROM "sqlaudit_columns_codes"
WHERE NOT (c0 = 0 OR c1 = 0)
GROUP BY c0 + CAST(c1 AS BIGINT) * 3
HAVING COUNT(*) = 1
UNION ALL
SELECT MIN(rowid) AS record, CAST(5 AS BIGINT) AS w0, 2 AS size
FROM "sqlaudit_columns_codes"
WHERE NOT (c0 = 0)
GROUP BY c0 + CAST(c2 AS BIGINT) * 3
HAVING COUNT(*) = 1
UNION ALL
SELECT MIN(rowid) AS record, CAST(6 AS BIGINT) AS w0, 2 AS size
FROM "sqlaudit_columns_codes"
WHERE NOT (c1 = 0)
GROUP BY c1 + CAST(c2 AS BIGINT) * 25
HAVING COUNT(*) = 1

)
, found AS (
    
    SELECT * FROM "sqlaudit_records_uniques_0"
)
SELECT candidate.*
FROM candidates AS candidate
WHERE NOT EXISTS (
    SELECT 1
    FROM found AS smaller
    WHERE smaller.record = candidate.record
        AND smaller.w0 & candidate.w0 = smaller.w0
)
