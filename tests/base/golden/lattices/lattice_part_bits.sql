/* sqlaudit: lattice_part_bits */
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
finest AS MATERIALIZED (
    SELECT
        nodes.id, base.n
        , base.k0, base.k0 & nodes.m0 AS c0
    FROM base AS base
    CROSS JOIN nodes AS nodes
),
inside AS MATERIALIZED (
    SELECT finest.id, finest.n, finest.k0
    FROM finest
    SEMI JOIN failing ON finest.id = failing.id
        AND finest.c0 = failing.k0
)
SELECT inside.id, levels.position, SUM(inside.n * here.bits) AS bits, SUM(inside.n * here.bits_at_top) AS bits_at_top
FROM inside
JOIN levels AS levels ON inside.id = levels.id
JOIN bits AS here
    ON levels.position = here.position AND levels.level = here.level
    AND inside.k0 & levels.m0 = here.k0
GROUP BY inside.id, levels.position
