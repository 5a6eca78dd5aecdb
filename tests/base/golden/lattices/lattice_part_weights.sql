/* sqlaudit: lattice_part_weights */
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
    SELECT id, n, k0
    FROM judged_0
    WHERE r0
)
SELECT failing.id, levels.position, SUM(failing.n * weights.weight) AS weight
FROM failing
JOIN patients AS levels ON failing.id = levels.id
JOIN patients AS weights
    ON levels.position = weights.position AND levels.level = weights.level
    AND failing.k0 & levels.m0 = weights.k0
GROUP BY failing.id, levels.position
