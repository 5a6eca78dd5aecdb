/* sqlaudit: lattice_lane_counts */
SELECT k0, lane, c, CAST(SUM(c) OVER (PARTITION BY lane) AS BIGINT) AS part
FROM (
    SELECT k0, 0 AS lane, (w0_0) & 15 AS c
    FROM base AS base
    UNION ALL
    SELECT k0, 1 AS lane, (w0_0 >> 4) & 15 AS c
    FROM base AS base
    
) AS unpacked
WHERE c > 0
