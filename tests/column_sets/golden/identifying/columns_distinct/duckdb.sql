/* sqlaudit: columns_distinct */
SELECT c0, c1, c2
FROM "sqlaudit_columns_codes"
GROUP BY c0, c1, c2
