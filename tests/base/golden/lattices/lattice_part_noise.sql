/* sqlaudit: lattice_part_noise */
WITH grouped AS NOT MATERIALIZED (
    SELECT *, n AS size FROM patients AS class
),
counted_0 AS NOT MATERIALIZED (
    SELECT
        *
    FROM grouped
),
known_0 AS NOT MATERIALIZED (
    SELECT
        *
    FROM counted_0
),
judged_0 AS NOT MATERIALIZED (
    SELECT
        id, n, size, k0

        , (size < 7) AS r0

    FROM known_0
),
failing AS (
    SELECT id, k0
    FROM judged_0
    WHERE r0
),
homed AS MATERIALIZED (
    SELECT
        nodes.id, failing.id IS NOT NULL AS gone, CASE WHEN failing.id IS NULL THEN ranked.k0 & nodes.m0 ELSE 0 END AS c0,
        ranked.lane, ranked.part, ranked.c, ranked.v1, ranked.v2
    FROM ranked AS ranked
    CROSS JOIN nodes AS nodes
    LEFT JOIN failing ON nodes.id = failing.id
        AND ranked.k0 & nodes.m0 = failing.k0
),
homes AS (
    SELECT id, gone, c0, SUM(c) AS n
    FROM homed
    GROUP BY id, gone, c0
),
mixtures AS (
    SELECT id, gone, c0, lane, SUM(c) AS n
    FROM homed
    WHERE NOT gone
    GROUP BY id, gone, c0, lane
    UNION ALL
    SELECT homes.id, homes.gone, c0, parts.lane, parts.n
    FROM homes
    CROSS JOIN (SELECT lane, MAX(part) AS n FROM ranked AS ranked GROUP BY lane) AS parts
    WHERE homes.gone
),
selected AS (
    SELECT 0 AS query, id, gone, c0, lane, SUM(c) AS n
    FROM homed
    WHERE v1 BETWEEN 0 AND 2 AND v2 BETWEEN 1 AND 1
    GROUP BY id, gone, c0, lane
    UNION ALL
    SELECT 1 AS query, id, gone, c0, lane, SUM(c) AS n
    FROM homed
    WHERE TRUE
    GROUP BY id, gone, c0, lane
    
),
sizes AS (
    SELECT query, id, gone, c0, SUM(n) AS n
    FROM selected
    GROUP BY query, id, gone, c0
),
compared AS (
    SELECT
        sizes.id, homes.n AS weight,
        ABS(CAST(COALESCE(selected.n, 0) AS DOUBLE) / sizes.n - CAST(mixtures.n AS DOUBLE) / CASE WHEN sizes.gone THEN 9 ELSE homes.n END) AS difference
    FROM sizes
    JOIN homes USING (id, gone, c0)
    JOIN mixtures USING (id, gone, c0)
    LEFT JOIN selected USING (query, id, gone, c0, lane)
)
SELECT id, SUM(weight * difference) AS noise
FROM compared
GROUP BY id
