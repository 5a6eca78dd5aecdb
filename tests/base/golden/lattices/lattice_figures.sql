/* sqlaudit: lattice_figures */
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

    FROM known_0
)
SELECT
    id,
    COUNT(*) AS classes,
    MIN(size) AS smallest,
    MIN(CASE WHEN FALSE THEN NULL ELSE size END) AS smallest_left,
    CAST(COALESCE(SUM(CASE WHEN FALSE THEN n END), 0) AS BIGINT) AS failing_rows
FROM judged_0
GROUP BY id
