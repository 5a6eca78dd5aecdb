/* sqlaudit: key_shapes */
WITH target AS NOT MATERIALIZED (
    SELECT
        "room" AS q1,
        "ward" AS q2,
        NULL AS s
    FROM patients
)
SELECT
    MIN(q1), MAX(q1), COUNT(*) - COUNT(q1),
    0, APPROX_COUNT_DISTINCT(q2), COUNT(*) - COUNT(q2)
FROM target
