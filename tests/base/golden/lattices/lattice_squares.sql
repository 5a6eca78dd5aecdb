/* sqlaudit: lattice_squares */
SELECT COUNT(*) AS classes, COALESCE(SUM(CAST(n AS HUGEINT) * n), 0) AS squares
FROM (
    SELECT COUNT(*) AS n
    FROM patients AS coded
    GROUP BY k0
) AS classes
