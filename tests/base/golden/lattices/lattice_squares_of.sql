/* sqlaudit: lattice_squares_of */
SELECT
    COALESCE(SUM(CAST(n AS HUGEINT) * n), 0) AS squares,
    COALESCE(SUM(n * LN(CAST(n AS DOUBLE))), 0) AS logarithms
FROM patients AS classes
