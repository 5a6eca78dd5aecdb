/* sqlaudit: release_atom_tuples */
SELECT
    tuples.key, tuples.n,
    atoms_1.atom AS a1,
    DENSE_RANK() OVER (ORDER BY atoms_1.atom) AS a
FROM patients AS tuples
JOIN patients AS atoms_1 ON tuples.v1 = atoms_1.word
