/* sqlaudit: release_cell_regions */
SELECT code AS key, m AS n, covered_rows AS region
FROM patients
