/* sqlaudit: lattice_sizes */
SELECT id, n AS size, COUNT(*) AS classes
FROM patients AS class
GROUP BY id, n
ORDER BY id, n
