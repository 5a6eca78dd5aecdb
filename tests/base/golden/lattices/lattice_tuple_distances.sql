/* sqlaudit: lattice_tuple_distances */
SELECT
    k0, n,
    CAST(CAST(n AS HUGEINT) * 9 + SUM(ABS(CAST(c AS HUGEINT) * 9 - CAST(part AS HUGEINT) * n) - CAST(part AS HUGEINT) * n) AS HUGEINT) AS deviation
FROM (
    SELECT k0, c, part, CAST(SUM(c) OVER (PARTITION BY k0) AS BIGINT) AS n
    FROM counts AS counts
) AS sized
GROUP BY k0, n
