/* sqlaudit: lattice_signatures */
WITH grouped AS NOT MATERIALIZED (
    SELECT *, n AS size FROM patients AS class WHERE id IN (0)
),
counted_0 AS NOT MATERIALIZED (
    SELECT
        *
        , (w0_0) & 3 AS c0
        , (w0_0 >> 2) & 3 AS c1
        , (w0_0 >> 4) & 3 AS c2
    FROM grouped
),
known_0 AS NOT MATERIALIZED (
    SELECT
        *
        , LIST_SORT([c0, c1, c2], 'DESC')[1:2] AS top_counts
    FROM counted_0
)
SELECT
    id,
    n,
    top_counts[1] AS r1,
    top_counts[2] AS r2,
    COUNT(*) AS classes
FROM known_0
GROUP BY ALL
ORDER BY id
