/* sqlaudit: classes_of_signatures */
WITH facts AS MATERIALIZED (
    SELECT
        q1, c0, classes, table_rows, size, n
        , LIST_SORT([c0], 'DESC')[1:1] AS top_counts
    FROM patients AS class
),
recognized AS NOT MATERIALIZED (
    SELECT
        facts.*,
        CASE
            WHEN n = 1 AND COALESCE(top_counts[1], 0) = 1 THEN 0
        END AS signature
    FROM facts
),
numbered AS NOT MATERIALIZED (
    SELECT
        recognized.*,
        ROW_NUMBER() OVER (
            PARTITION BY signature
            ORDER BY q1 NULLS LAST
        ) AS copy
    FROM recognized
    WHERE NOT signature IS NULL
)
SELECT signature, copy, q1, c0
FROM numbered
WHERE copy <= 2
ORDER BY signature, copy
