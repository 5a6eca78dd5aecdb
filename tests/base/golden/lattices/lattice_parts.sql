/* sqlaudit: lattice_parts */
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
        id, n, size

        , (size < 7) AS r0

    FROM known_0
)
SELECT
    id,
    COUNT(*) AS classes,
    COUNT(CASE WHEN NOT (r0) THEN 1 END) AS kept_classes,
    CAST(COALESCE(SUM(CASE WHEN r0 THEN n END), 0) AS BIGINT) AS failing_rows,
    COALESCE(SUM(CASE WHEN NOT (r0) THEN CAST(n AS HUGEINT) * n END), 0) AS kept_squares,
    COALESCE(SUM(CASE WHEN NOT (r0) THEN n * LOG2(n) END), 0) AS kept_bits
FROM judged_0
GROUP BY id
