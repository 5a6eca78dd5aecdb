/* sqlaudit: classes_cells */
WITH target AS NOT MATERIALIZED (
    SELECT
        "a" AS q1,
        "s" AS s
    FROM patients
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
),
cells AS NOT MATERIALIZED (
    SELECT
        q1,
        s,
        COUNT(*) AS c,
        COUNT(*) AS row_count
    FROM target AS member
    GROUP BY q1, s
),
coded AS NOT MATERIALIZED (
    SELECT
cells.q1, 
        COALESCE(lanes.lane, 0) AS lane, c, row_count
    FROM cells
    LEFT JOIN lanes ON cells.s = lanes.s
),
grouped AS NOT MATERIALIZED (
    SELECT
        q1,
        CAST(SUM(c) AS BIGINT) AS n,
        CAST(SUM(c) AS BIGINT) AS size,
        CAST(SUM(row_count) AS BIGINT) AS table_rows,
        ARRAY_AGG(lane * 1099511627776 + c)  AS cell_list
    FROM coded AS part
    GROUP BY q1
)
SELECT
    
    
    1 AS classes, n, size, table_rows, cell_list
FROM grouped
WHERE n > 0
