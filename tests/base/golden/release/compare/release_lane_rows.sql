/* sqlaudit: release_lane_rows */
SELECT v, t, total
FROM patients AS lanes
ORDER BY lane
LIMIT 10001
