/* sqlaudit: lattice_nodes */
SELECT
    plan.id,
    finer.k0 & plan.m0 AS k0,
    CAST(SUM(finer.n) AS BIGINT) AS n
FROM patients AS finer
JOIN (
    VALUES
        (0)
) AS plan(parent, id, m0) ON finer.id = plan.parent
GROUP BY ALL
