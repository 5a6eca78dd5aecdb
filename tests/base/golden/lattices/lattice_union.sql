/* sqlaudit: lattice_union */
SELECT * REPLACE (id + 0 AS id) FROM patients
