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
        numbered.*,
        DENSE_RANK() OVER (ORDER BY k1) AS id,
        DENSE_RANK() OVER (ORDER BY CASE WHEN k1 = 0 THEN 1 ELSE 0 END) AS mask
    FROM (
        SELECT
            q1, 
            CASE WHEN q1 IS NULL THEN 0 ELSE CAST(DENSE_RANK() OVER (ORDER BY q1) AS INTEGER) END AS k1,
            
            0 AS lane,
            row_count
        FROM members
    ) AS numbered
),
patterns AS MATERIALIZED (
    SELECT id, mask, q1, k1, SUM(row_count) AS row_count
    FROM coded
    GROUP BY id, mask, q1, k1
),
masks AS MATERIALIZED (
    SELECT DISTINCT mask, CASE WHEN k1 = 0 THEN 1 ELSE 0 END AS z1
    FROM coded
),
own AS MATERIALIZED (
    SELECT *
    FROM masks
),
left_out AS MATERIALIZED (
    SELECT DISTINCT own.mask AS own, GREATEST(own.z1, masks.z1) AS z1
    FROM own
    CROSS JOIN masks
),
seeking AS NOT MATERIALIZED (
    SELECT
        patterns.id,
        CASE WHEN left_out.z1 = 1 THEN 0 ELSE patterns.k1 END AS k1,
        left_out.own
    FROM patterns
    JOIN left_out ON patterns.mask = left_out.own
),
offered AS NOT MATERIALIZED (
    SELECT own, k1, lane, SUM(row_count) AS c
    FROM (
        SELECT
            CASE WHEN own.z1 = 1 THEN 0 ELSE coded.k1 END AS k1,
            lane, row_count, own.mask AS own
        FROM coded
        CROSS JOIN own
    ) AS shown
    GROUP BY own, k1, lane
),
met AS NOT MATERIALIZED (
    SELECT seeking.id, offered.lane, SUM(offered.c) AS c
    FROM seeking
    JOIN offered ON seeking.own = offered.own AND seeking.k1 = offered.k1
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
