/* sqlaudit: columns_totals */
SELECT
    COUNT(*) AS total,
    COUNT(*) AS persons,
    0 AS nameless
FROM patients
