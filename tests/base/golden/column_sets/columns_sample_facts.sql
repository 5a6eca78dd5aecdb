/* sqlaudit: columns_sample_facts */
SELECT
    COUNT(*) AS total
    , SUM(CASE WHEN c0 = 0 THEN 1 ELSE 0 END) AS missing_c0
    , MAX(c0) AS largest_c0
FROM patients
