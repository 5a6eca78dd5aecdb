/* sqlaudit: lattice_entropies */
WITH grouped AS NOT MATERIALIZED (
    SELECT *, n AS size FROM patients AS class WHERE id IN (0)
),
counted_0 AS NOT MATERIALIZED (
    SELECT
        *
        , (w0_0) & 3 AS c0
    FROM grouped
),
known_0 AS NOT MATERIALIZED (
    SELECT
        *
        , CASE WHEN c0 > 0 THEN 1 ELSE 0 END AS distinct_values
    FROM counted_0
)
SELECT
    id,
    MIN(distinct_values) AS least
FROM known_0
GROUP BY id
