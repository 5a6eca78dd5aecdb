/* sqlaudit: values_counted */
WITH target AS NOT MATERIALIZED (
    SELECT
        "s" AS s
    FROM numbered
),
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        null_rows,
        rows_without_entity,
        ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
    FROM (
        SELECT
            s,
            COUNT(*) AS total
            , SUM(CASE WHEN s IS NULL THEN 1 ELSE 0 END) AS null_rows
            , 0 AS rows_without_entity
        FROM target
        GROUP BY s
        LIMIT 10001
    ) AS seen
)
SELECT lane, s, total, null_rows, rows_without_entity
FROM lanes
ORDER BY lane
