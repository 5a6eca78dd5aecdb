/* sqlaudit: columns_profile */
SELECT
    COUNT(*) AS total
    , COUNT(*) - COUNT(c0) AS missing_0
    , NULL AS width_0
    , COUNT(*) - COUNT(c1) AS missing_1
    , CAST(MAX(c1) AS HUGEINT) - MIN(c1) AS width_1
    , COUNT(*) - COUNT(c2) AS missing_2
    , NULL AS width_2
FROM "sqlaudit_columns_rows"
