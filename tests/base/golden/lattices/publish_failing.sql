/* sqlaudit: publish_failing */
WITH class AS MATERIALIZED (
    SELECT * FROM patients AS class
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
    SELECT lane, total FROM patients AS seen
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
    FROM cells AS long
    GROUP BY long.id, long.n
),
facts AS MATERIALIZED (
    SELECT folded.*, q1
    FROM class
    JOIN folded ON class.id = folded.id
)
SELECT q1 AS class_number
FROM facts
WHERE size < 2
