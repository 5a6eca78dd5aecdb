/* sqlaudit: columns_domains */
SELECT
    MAX(c0)
FROM patients
