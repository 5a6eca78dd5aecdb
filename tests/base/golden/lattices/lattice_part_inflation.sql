/* sqlaudit: lattice_part_inflation */
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
finest AS (
    SELECT
        nodes.id, base.n
        , base.k0, base.k0 & nodes.m0 AS c0
    FROM base AS base
    CROSS JOIN nodes AS nodes
),
tuples AS MATERIALIZED (
    SELECT
        finest.id, finest.n, finest.k0,
        SUM(finest.n) OVER (PARTITION BY finest.id, finest.c0) AS class_rows,
        failing.id IS NOT NULL AS left_out
    FROM finest
    LEFT JOIN failing ON finest.id = failing.id
        AND finest.c0 = failing.k0
),
inflated AS (
    SELECT
        tuples.id, tuples.n, tuples.k0,
        CASE WHEN MAX(CASE WHEN tuples.left_out THEN 1 ELSE 0 END) = 1 THEN 9 ELSE MAX(tuples.class_rows) END AS region,
        SUM(CASE WHEN tuples.left_out THEN here.bits_at_top ELSE here.bits END) AS bits
    FROM tuples
    JOIN levels AS levels ON tuples.id = levels.id
    JOIN bits AS here
        ON levels.position = here.position AND levels.level = here.level
        AND tuples.k0 & levels.m0 = here.k0
    GROUP BY tuples.id, tuples.n, tuples.k0
)
SELECT id, CAST(SUM(region) AS DOUBLE) AS joint, SUM(n * POWER(2, bits)) AS apart
FROM inflated
GROUP BY id
