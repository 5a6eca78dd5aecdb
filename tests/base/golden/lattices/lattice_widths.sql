/* sqlaudit: lattice_widths */
SELECT
    MAX(x0) AS largest_0
FROM patients AS places
