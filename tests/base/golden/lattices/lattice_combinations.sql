/* sqlaudit: lattice_combinations */
WITH grouped AS NOT MATERIALIZED (
    SELECT *, n AS size FROM patients AS class
),
counted_0 AS NOT MATERIALIZED (
    SELECT
        *
        , (w0_0) & 1 AS c0
    FROM grouped
),
known_0 AS NOT MATERIALIZED (
    SELECT
        *
        , CASE WHEN c0 > 0 THEN c0 * LN(CAST(c0 AS DOUBLE)) ELSE 0.0 END AS count_log_count
        , c0 AS largest
        , CASE WHEN c0 > 0 THEN 1 ELSE 0 END AS distinct_values
    FROM counted_0
)
SELECT DISTINCT w0_0
FROM known_0
WHERE largest * distinct_values <> n AND EXP(LN(CAST(n AS DOUBLE)) - count_log_count / n) BETWEEN 1.999999998 AND 2.000000002
LIMIT 200001
