/* sqlaudit: facts_of_cells */
WITH all_lanes AS MATERIALIZED (
    SELECT lane, total, 1 / (total * (1 - LN(CAST(total AS DOUBLE) / 40))) AS reach
    FROM totals AS seen
)
SELECT
    id,
    CAST(SUM(c) AS INTEGER) AS n
    , CAST(SUM(t) AS INTEGER) AS present
    , MAX(c * reach) AS bound
    , CAST(COALESCE(SUM(CASE WHEN c > 0 THEN 1 ELSE 0 END), 0) AS INTEGER) AS distinct_values
    , MIN(CASE WHEN c > 0 THEN CAST(c AS DOUBLE) / t END) AS smallest_lift
FROM (
    SELECT cells.id, cells.lane, CAST(cells.c AS INTEGER) AS c, all_lanes.total AS t, all_lanes.reach
    FROM patients AS cells
    JOIN all_lanes ON cells.lane = all_lanes.lane
) AS long
GROUP BY id
