/* sqlaudit: spelled_alike */
WITH target AS NOT MATERIALIZED (
    SELECT
        "clinic" AS q1,
        "person" AS e,
        "disease" AS s
    FROM "hospital"."main"."visits"
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
SELECT
    target.q1,
    target.e,
    CASE lanes.lane WHEN 3 THEN 1 WHEN 4 THEN 1 ELSE lanes.lane END AS s
FROM target
LEFT JOIN lanes ON target.s = lanes.s
