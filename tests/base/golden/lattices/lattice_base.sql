/* sqlaudit: lattice_base */
WITH target AS NOT MATERIALIZED (
    SELECT
        "a" AS q0,
        1 AS c
    FROM patients
),
coded AS NOT MATERIALIZED (
    SELECT
codes_0.k0 AS k0,
        c
    FROM target
    JOIN patients AS codes_0 ON target.q0 IS NOT DISTINCT FROM codes_0.v
)
SELECT
    0 AS id,
    k0,
    CAST(COUNT(*) AS BIGINT) AS n
FROM coded
GROUP BY k0
