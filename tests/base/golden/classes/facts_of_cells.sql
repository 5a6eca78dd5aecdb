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
    , CAST(COUNT(*) AS INTEGER) AS distinct_values
    , COALESCE(SUM(c * LN(CAST(c AS DOUBLE))), 0) AS entropy
    , COALESCE(MAX(CASE long.lane WHEN 0 THEN 1 WHEN 1 THEN 0 END), 0) AS last
    , MIN(CAST(c AS DOUBLE) / t) AS smallest_lift
FROM (
    SELECT cells.id, cells.lane, CAST(cells.c AS INTEGER) AS c, all_lanes.total AS t, all_lanes.reach
    FROM patients AS cells
    JOIN all_lanes ON cells.lane = all_lanes.lane
) AS long
GROUP BY id
