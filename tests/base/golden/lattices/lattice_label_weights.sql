/* sqlaudit: lattice_label_weights */
SELECT DISTINCT
    0 AS position, 1 AS level,
    codes.k0 & 6 AS k0,
    given.weight
FROM patients AS codes
JOIN patients AS given
    ON given.position = 0 AND given.level = 1
    AND given.label IS NOT DISTINCT FROM codes.l1
