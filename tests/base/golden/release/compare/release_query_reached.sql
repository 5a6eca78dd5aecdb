/* sqlaudit: release_query_reached */
SELECT cell, u, share
FROM patients
UNION ALL
SELECT CAST(code AS INTEGER), 0, CAST(0 AS DOUBLE)
FROM patients
