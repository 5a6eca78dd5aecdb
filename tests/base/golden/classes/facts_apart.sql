/* sqlaudit: facts_apart */
WITH class AS NOT MATERIALIZED (
    SELECT id, CAST(n AS BIGINT) AS n
    FROM known AS known
    WHERE n >= 7
),
long AS NOT MATERIALIZED (
    SELECT cells.id, class.n, class.n AS size, 1 AS classes, class.n AS table_rows, cells.lane, cells.c
    FROM patients AS cells
    JOIN class ON cells.id = class.id
),
all_lanes AS MATERIALIZED (
    SELECT lane, total FROM totals AS seen
),
cells AS NOT MATERIALIZED (
    SELECT long.*, all_lanes.total AS t
    FROM long
    JOIN all_lanes ON long.lane = all_lanes.lane
),
folded AS NOT MATERIALIZED (
    SELECT
        long.id
        , CAST((CAST(n AS BIGINT) * 40 + COALESCE(SUM((ABS(CAST(c AS BIGINT) * 40 - CAST(n AS BIGINT) * t) - CAST(n AS BIGINT) * t)), 0)) AS HUGEINT) AS equal_distance
    FROM cells AS long
    GROUP BY long.id, long.n
)
SELECT *
FROM folded
