/* sqlaudit: lattice_tuple_bits */
SELECT COALESCE(SUM(n * LOG2(n)), 0) AS bits
FROM patients AS base
