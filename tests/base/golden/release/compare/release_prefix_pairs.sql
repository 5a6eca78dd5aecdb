/* sqlaudit: release_prefix_pairs */
SELECT classes.next AS class, tuples.next AS tuple
FROM patients AS pairs
JOIN (SELECT DISTINCT p, g3 AS cell, next FROM patients) AS classes ON pairs.class = classes.p
JOIN patients AS cover ON classes.cell = cover.cell
JOIN (SELECT DISTINCT p, a3 AS atom, next FROM patients) AS tuples
    ON pairs.tuple = tuples.p AND cover.atom = tuples.atom
LIMIT 40000001
