/* sqlaudit: classes_about */
WITH target AS NOT MATERIALIZED (
    SELECT
        "zip" AS q1,
        "age" AS q2,
        NULL AS s
    FROM patients
)
SELECT APPROX_COUNT_DISTINCT(HASH(q1, q2)) AS classes
FROM target
