{# Beginnings of tuples of atoms that lie in beginnings of classes, one column longer than before. #}
SELECT classes.next AS class, tuples.next AS tuple
FROM {{ pairs }} AS pairs
JOIN (SELECT DISTINCT p, {{ cell }} AS cell, next FROM {{ classes }}) AS classes ON pairs.class = classes.p
JOIN {{ cover }} AS cover ON classes.cell = cover.cell
JOIN (SELECT DISTINCT p, {{ atom }} AS atom, next FROM {{ tuples }}) AS tuples
    ON pairs.tuple = tuples.p AND cover.atom = tuples.atom
LIMIT {{ limit }}
