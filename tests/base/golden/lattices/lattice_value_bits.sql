/* sqlaudit: lattice_value_bits */
SELECT
    0 AS position, 1 AS level,
    k0 & 3 AS k0,
    -LOG2(row_count / SUM(row_count) OVER (PARTITION BY k0 & 2)) AS bits,
    -LOG2(row_count / SUM(row_count) OVER ()) AS bits_at_top
FROM codes AS codes
