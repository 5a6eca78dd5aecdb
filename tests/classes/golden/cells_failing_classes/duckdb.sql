/* sqlaudit: failing classes */
WITH
class AS MATERIALIZED (
    SELECT * FROM (/* sqlaudit: equivalence classes */
WITH target AS NOT MATERIALIZED (
    SELECT
        "zip" AS q1,
        "age" AS q2,
        "disease" AS s
    FROM patients
),
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
    FROM (
        SELECT s, COUNT(*) AS total
        FROM target
        GROUP BY s
    ) AS seen
),
cells AS NOT MATERIALIZED (
    SELECT
        q1, q2,
        s,
        COUNT(*) AS c,
        COUNT(*) AS row_count
    FROM target AS member
    GROUP BY q1, q2, s
),
coded AS NOT MATERIALIZED (
    SELECT
cells.q1, cells.q2, 
        COALESCE(lanes.lane, 3) AS lane, c, row_count
    FROM cells
    LEFT JOIN lanes ON cells.s = lanes.s
),
grouped AS NOT MATERIALIZED (
    SELECT
        q1, q2,
        CAST(SUM(c) AS BIGINT) AS n,
        CAST(SUM(c) AS BIGINT) AS size,
        CAST(SUM(row_count) AS BIGINT) AS table_rows,
        ARRAY_AGG(lane * 1099511627776 + c)  AS cell_list
    FROM coded AS part
    GROUP BY q1, q2
)
SELECT
    ROW_NUMBER() OVER () AS id,
    q1, q2,
    1 AS classes, n, size, table_rows, cell_list
FROM grouped
WHERE n > 0) AS class
),
long AS NOT MATERIALIZED (
    SELECT
        id, n, size, classes, table_rows,
        cell >> 40 AS lane,
        cell & 1099511627775 AS c
    FROM (
        SELECT id, n, size, classes, table_rows, UNNEST(cell_list) AS cell
        FROM class
    ) AS unfolded
),
all_lanes AS MATERIALIZED (
    SELECT lane, total FROM (/* sqlaudit: sensitive values */
WITH target AS NOT MATERIALIZED (
    SELECT
        "disease" AS s
    FROM patients
),
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
    FROM (
        SELECT s, COUNT(*) AS total
        FROM target
        GROUP BY s
    ) AS seen
)
SELECT lane, s, total
FROM lanes
ORDER BY lane) AS seen
),
cells AS NOT MATERIALIZED (
    SELECT long.*, all_lanes.total AS t
    FROM long
    JOIN all_lanes ON long.lane = all_lanes.lane
),
folded AS MATERIALIZED (
    SELECT
        long.id,
        long.n,
        MAX(long.size) AS size,
        MAX(long.classes) AS classes,
        MAX(long.table_rows) AS table_rows
        , COALESCE(SUM(CASE WHEN c > 0 THEN 1 ELSE 0 END), 0) AS distinct_values
        , COALESCE(MAX(c), 0) AS largest
        , CAST(LIST_SUM(MAX(c, 2)) AS BIGINT) AS head_2
        , (CAST(n AS HUGEINT) * 7 + COALESCE(SUM((ABS(CAST(c AS HUGEINT) * 7 - CAST(n AS HUGEINT) * t) - CAST(n AS HUGEINT) * t)), 0)) AS equal_distance
        , MAX(CAST(long.n AS HUGEINT)) AS wide_n
    FROM cells AS long
    GROUP BY long.id, long.n
),
facts AS MATERIALIZED (
    SELECT folded.*, q1, q2
    FROM class
    JOIN folded ON class.id = folded.id
),
short AS NOT MATERIALIZED (
    SELECT
        q1, q2, 
        size AS class_size,
        classes AS classes,
        table_rows AS table_rows,
        n
        , CASE WHEN size < 4 THEN 1 ELSE 0 END AS fails_0
    FROM facts
)
SELECT
    q1, q2, 
    class_size, classes, table_rows, fails_0,
    CAST(SUM(classes) OVER () AS BIGINT) AS failing_total
FROM short
WHERE fails_0 = 1
ORDER BY class_size, n, q1 NULLS LAST, q2 NULLS LAST, table_rows
LIMIT 3
