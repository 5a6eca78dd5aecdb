/* sqlaudit: release_classes */
SELECT
    classes.key, classes.g1, classes.n,
cells_1.is_whole AS is_whole
FROM patients AS classes
JOIN patients AS cells_1 ON classes.g1 = cells_1.code
