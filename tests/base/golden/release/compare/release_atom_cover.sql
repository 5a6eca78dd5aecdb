/* sqlaudit: release_atom_cover */
SELECT DISTINCT cover.cell, atoms.atom
FROM patients AS cover
JOIN patients AS atoms ON cover.word = atoms.word
