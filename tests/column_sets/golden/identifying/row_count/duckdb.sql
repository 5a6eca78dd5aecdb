/* sqlaudit: row_count */
SELECT COUNT(*) AS row_count
FROM "sqlaudit_columns_distinct"
