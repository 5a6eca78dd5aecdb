/* sqlaudit: release_asked_homes */
SELECT
    CAST(tuples.v1 AS INTEGER) AS v1,
    inside.c AS home,
    CAST(tuples.n AS DOUBLE) AS n
FROM patients AS tuples
JOIN patients AS placed ON tuples.key = placed.key
LEFT JOIN patients AS inside ON placed.a = inside.a
