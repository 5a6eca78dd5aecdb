/* sqlaudit: attack_members */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
        , 0 AS distinct_values
    FROM patients AS class
)
SELECT
first_lane, 
    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(size * classes) AS BIGINT) AS members
FROM facts
GROUP BY first_lane
LIMIT 200001
