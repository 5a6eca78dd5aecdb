/* sqlaudit: lattice_values_known */
SELECT COUNT(key)
FROM codes AS codes
