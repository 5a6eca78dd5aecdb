/* sqlaudit: lattice_label_counts */
SELECT
    COUNT(DISTINCT (k0 & 3)) AS level_0
FROM patients AS codes
