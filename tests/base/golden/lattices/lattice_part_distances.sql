/* sqlaudit: lattice_part_distances */
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
mixtures AS (
    SELECT
        nodes.id, counts.k0 & nodes.m0 AS c0,
        counts.lane, MAX(counts.part) AS part, CAST(SUM(counts.c) AS BIGINT) AS c
    FROM counts AS counts
    CROSS JOIN nodes AS nodes
    GROUP BY nodes.id, counts.k0 & nodes.m0, counts.lane
),
sized AS (
    SELECT *, CAST(SUM(c) OVER (PARTITION BY id, c0) AS BIGINT) AS n
    FROM mixtures
),
measured AS (
    SELECT
        id, c0, n,
        CAST(CAST(n AS HUGEINT) * 9 + SUM(ABS(CAST(c AS HUGEINT) * 9 - CAST(part AS HUGEINT) * n) - CAST(part AS HUGEINT) * n) AS HUGEINT) AS deviation
    FROM sized
    GROUP BY id, c0, n
),
classes AS MATERIALIZED (
    SELECT
        measured.id, measured.c0,
        CASE WHEN failing.id IS NULL THEN measured.n ELSE 9 END AS region,
        CASE WHEN failing.id IS NULL THEN measured.n END AS n,
        CASE WHEN failing.id IS NULL THEN measured.deviation ELSE 0 END AS deviation
    FROM measured
    LEFT JOIN failing ON measured.id = failing.id
        AND measured.c0 = failing.k0
),
gone AS (
    SELECT
        classes.id, CAST(tuples.n AS DOUBLE) AS n, CAST(classes.region AS DOUBLE) / tuples.n AS inflation,
        CAST(tuples.deviation AS DOUBLE) / tuples.n - COALESCE(CAST(classes.deviation AS DOUBLE) / classes.n, 0) AS distance
    FROM tuples AS tuples
    CROSS JOIN nodes AS nodes
    JOIN classes ON nodes.id = classes.id
        AND tuples.k0 & nodes.m0 = classes.c0
),
joint AS (
    SELECT id, SUM(n * distance * inflation) AS hybrid, SUM(n * distance * LOG2(inflation)) AS hybrid_log
    FROM gone
    GROUP BY id
),
kept AS (
    SELECT id, CAST(SUM(deviation) AS HUGEINT) AS deviation
    FROM classes
    GROUP BY id
)
SELECT kept.id, kept.deviation, joint.hybrid, joint.hybrid_log
FROM kept
JOIN joint ON kept.id = joint.id
