/* sqlaudit: attack_skewness */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
        , 0 AS largest_lift
    FROM patients AS class
)
SELECT
    CAST(COALESCE(SUM(n * classes), 0) AS BIGINT) AS members,
    MAX(largest_lift * 0 / n) AS highest
    , CAST(COALESCE(SUM(above_2 * classes), 0) AS BIGINT) AS above_2
FROM facts
