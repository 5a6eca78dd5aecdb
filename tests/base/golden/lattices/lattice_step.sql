/* sqlaudit: lattice_step */
SELECT
    id AS id,
    k0 & 8 AS k0,
    CAST(SUM(n) AS BIGINT) AS n
FROM patients AS finer
GROUP BY ALL
