/* sqlaudit: columns_distinct */
SELECT c0, c1, c2
FROM "sqlaudit_columns_codes"
GROUP BY c0, c1, c2
UNION ALL
SELECT c0, c1, c2
FROM "sqlaudit_columns_codes"
WHERE c0 = 0 OR c1 = 0
GROUP BY c0, c1, c2
HAVING COUNT(*) > 1
