/* sqlaudit: lattice_rows */
SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS table_rows
FROM patients AS base
