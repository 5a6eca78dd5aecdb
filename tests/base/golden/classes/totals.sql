/* sqlaudit: totals */
WITH target AS NOT MATERIALIZED (
    SELECT
        "s" AS s
    FROM numbered
),
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
    FROM (
        SELECT
            s,
            COUNT(*) AS total
        FROM target
        GROUP BY s
    ) AS seen
)
SELECT lane, s, total
FROM lanes
ORDER BY lane
