/* sqlaudit: columns_profile */
SELECT
    COUNT(*) AS total
    , COUNT(*) - COUNT(c0) AS missing_0
    , CAST(MAX(c0) AS HUGEINT) - MIN(c0) AS width_0
FROM patients
