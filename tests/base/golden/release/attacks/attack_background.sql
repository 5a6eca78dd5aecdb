/* sqlaudit: attack_background */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
        , 0 AS distinct_values
    FROM patients AS class
),
left_over AS NOT MATERIALIZED (
    SELECT
        classes, size, distinct_values, largest
        , n - (head_1 - largest) AS left_0
        , n - head_1 AS others_0
        , head_1 AS count_0
    FROM facts
)
SELECT
    CAST(COALESCE(SUM(size * classes), 0) AS BIGINT) AS members
    , CAST(COALESCE(SUM(CASE WHEN distinct_values <= 1 THEN size * classes ELSE 0 END), 0) AS BIGINT) AS certain_0
    , CAST(COALESCE(SUM(LEAST(size, 0 + CASE WHEN CAST(count_0 AS HUGEINT) * 10 >= CAST(count_0 + others_0 AS HUGEINT) * 9 THEN count_0 ELSE 0 END) * classes), 0) AS BIGINT) AS nearly_0
    , MAX(CAST(largest AS DOUBLE) / left_0) AS highest_0
    , MAX(CASE WHEN distinct_values > 1 THEN CAST(largest AS DOUBLE) / left_0 END) AS rest_0
FROM left_over
