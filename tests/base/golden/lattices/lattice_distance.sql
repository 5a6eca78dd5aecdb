/* sqlaudit: lattice_distance */
SELECT CAST(COALESCE(SUM(deviation), 0) AS HUGEINT) AS deviation
FROM tuples AS tuples
