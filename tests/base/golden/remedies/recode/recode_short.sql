/* sqlaudit: recode_short */
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
        id, n, size, g

        , (size < 2) AS r0

    FROM known_0
)
SELECT g
FROM judged_0
WHERE r0
