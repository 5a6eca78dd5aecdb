/* sqlaudit: facts_joined */
SELECT
    known.id, CAST(known.n AS BIGINT) AS n, CAST(known.n AS BIGINT) AS size, 1 AS classes, CAST(known.n AS BIGINT) AS table_rows
    , CAST(known.distinct_values AS BIGINT) AS distinct_values
    , known.smallest_lift
    , CASE WHEN apart.id IS NULL THEN 2 * (CAST(known.n AS HUGEINT) * (40 - known.present)) ELSE apart.equal_distance END AS equal_distance
    , CASE WHEN apart.id IS NULL THEN CASE WHEN known.bound * 40 > known.n THEN 1 ELSE 0 END ELSE apart.gains_above_log END AS gains_above_log
    , CAST(known.n AS HUGEINT) AS wide_n
    , apart.near AS near
FROM known AS known
LEFT JOIN apart AS apart ON known.id = apart.id
