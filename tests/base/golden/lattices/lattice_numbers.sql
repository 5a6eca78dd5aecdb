/* sqlaudit: lattice_numbers */
SELECT id, k0, z
FROM patients AS codes
ORDER BY id
