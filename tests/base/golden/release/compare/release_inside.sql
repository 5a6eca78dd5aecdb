/* sqlaudit: release_inside */
SELECT tuples.id AS a, classes.id AS c
FROM patients AS pairs
JOIN patients AS classes ON pairs.class = classes.next
JOIN patients AS tuples ON pairs.tuple = tuples.next
