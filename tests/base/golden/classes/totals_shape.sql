/* sqlaudit: totals_shape */
WITH target AS NOT MATERIALIZED (
    SELECT
        "disease" AS s
    FROM patients
)
SELECT
    COUNT(DISTINCT s) + COALESCE(MAX(CASE WHEN s IS NULL THEN 1 ELSE 0 END), 0) AS distinct_values,
    COALESCE(SUM(CASE WHEN s IS NULL THEN 1 ELSE 0 END), 0) AS null_rows,
    COUNT(*) AS table_rows,
    0 AS rows_without_entity
FROM target
