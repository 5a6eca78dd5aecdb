/* sqlaudit: classes_wildcard */
WITH target AS NOT MATERIALIZED (
    SELECT
        "c1" AS q1,
        NULL AS s
    FROM patients
),
members AS MATERIALIZED (
    SELECT q1, s, COUNT(*) AS row_count
    FROM target
    GROUP BY q1, s
),
coded AS MATERIALIZED (
    SELECT
        q1, 
        CASE WHEN q1 IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY q1) END AS k1,
CASE WHEN q1 IS NULL THEN '1' ELSE '0' END || '' AS mask,
        
        0 AS lane,
        row_count
    FROM members
),
patterns AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS id, q1, k1, mask, SUM(row_count) AS row_count
    FROM coded
    GROUP BY q1, k1, mask
),
masks AS MATERIALIZED (
    SELECT DISTINCT CASE WHEN k1 = 0 THEN 1 ELSE 0 END AS z1, mask
    FROM patterns
),
seeking AS NOT MATERIALIZED (
    SELECT
        patterns.id,
        CASE WHEN masks.z1 = 1 THEN 0 ELSE patterns.k1 END AS k1,
        patterns.mask AS own, masks.mask AS other
    FROM patterns
    CROSS JOIN masks
),
offered AS NOT MATERIALIZED (
    SELECT own, other, k1, lane, SUM(row_count) AS c
    FROM (
        SELECT
            CASE WHEN masks.z1 = 1 THEN 0 ELSE coded.k1 END AS k1,
            lane, row_count, masks.mask AS own, coded.mask AS other
        FROM coded
        CROSS JOIN masks
    ) AS shown
    GROUP BY own, other, k1, lane
),
met AS NOT MATERIALIZED (
    SELECT seeking.id, offered.lane, SUM(offered.c) AS c
    FROM seeking
    JOIN offered ON seeking.own = offered.own AND seeking.other = offered.other AND seeking.k1 = offered.k1
    GROUP BY seeking.id, offered.lane
),
matched AS NOT MATERIALIZED (
    SELECT
        id,
        CAST(SUM(c) AS BIGINT) AS n
        
    FROM (SELECT id, lane, CAST(SUM(c) AS BIGINT) AS c FROM met GROUP BY id, lane) AS cell
    GROUP BY id
)
SELECT
    patterns.id,
patterns.q1, 
    CAST(patterns.row_count AS BIGINT) AS classes,
    matched.n AS n,
    matched.n AS size,
    CAST(patterns.row_count AS BIGINT) AS table_rows
    
FROM patterns
JOIN matched ON patterns.id = matched.id
