/* sqlaudit: columns_cuboid */
SELECT c0, COUNT(*) AS weight
FROM patients
GROUP BY c0
