/* sqlaudit: release_query_reached */
SELECT cell, u, x, share
FROM patients
UNION ALL
SELECT CAST(can.code AS INTEGER), 0, can.x, CAST(0 AS DOUBLE)
FROM patients AS can
WHERE NOT EXISTS (SELECT 1 FROM patients AS shares WHERE shares.cell = can.code AND shares.x = can.x)
