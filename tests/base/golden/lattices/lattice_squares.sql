/* sqlaudit: lattice_squares */
SELECT
    COUNT(*) AS classes,
    COALESCE(SUM(CAST(n AS HUGEINT) * n), 0) AS squares,
    COALESCE(SUM(n * LN(CAST(n AS DOUBLE))), 0) AS logarithms
FROM (
    SELECT COUNT(*) AS n
    FROM patients AS coded
    GROUP BY k0
) AS classes
