/* sqlaudit: lattice_coded */
WITH target AS NOT MATERIALIZED (
    SELECT
        "a" AS q0,
        "s" AS o1,
        NULL AS e
    FROM patients
)
SELECT
COALESCE(codes_0.k0, 0) AS k0,
    CASE WHEN q0 IS NULL THEN 0 ELSE 0 END AS z0,
    o1,
    e
FROM target
LEFT JOIN patients AS codes_0 ON target.q0 = codes_0.v
