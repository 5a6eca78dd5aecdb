{# Which tuples of atoms lie inside which classes. #}
SELECT tuples.id AS a, classes.id AS c
FROM {{ pairs }} AS pairs
JOIN {{ classes }} AS classes ON pairs.class = classes.next
JOIN {{ tuples }} AS tuples ON pairs.tuple = tuples.next
