/* sqlaudit: lattice_squares_of */
SELECT COALESCE(SUM(CAST(n AS HUGEINT) * n), 0) AS squares
FROM patients AS classes
