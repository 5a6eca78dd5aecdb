/* sqlaudit: columns_domains */
SELECT
    MAX(c0),
    MAX(c1),
    MAX(c2)
FROM "sqlaudit_columns_codes"
