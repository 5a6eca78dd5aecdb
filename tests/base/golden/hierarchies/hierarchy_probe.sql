/* sqlaudit: hierarchy_probe */
SELECT "v" + 1 AS v
FROM patients
