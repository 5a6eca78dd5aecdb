/* sqlaudit: cloak_messages */
WITH given AS (
    SELECT
        "user" AS person,
        "x" AS x,
        "y" AS y,
        "t" AS t,
        CASE WHEN "user" IS NULL OR "x" IS NULL OR "y" IS NULL OR "t" IS NULL THEN 1 ELSE 0 END AS is_missing,
        1 AS k,
        0 AS first_level        , "id" AS c1
    FROM patients
),
placed AS MATERIALIZED (
    SELECT
        ROW_NUMBER() OVER () AS number, person, is_missing, k, first_level,
        CASE
    WHEN CAST(CAST(x AS VARCHAR) AS DOUBLE) > -0.000000001 AND CAST(CAST(x AS VARCHAR) AS DOUBLE) < 0 THEN -1
    WHEN CAST(CAST(x AS VARCHAR) AS DOUBLE) >= 0 AND CAST(CAST(x AS VARCHAR) AS DOUBLE) < 0.000000001 THEN 0
    WHEN CAST(CAST(x AS VARCHAR) AS DOUBLE) >= -1000000000000 AND CAST(CAST(x AS VARCHAR) AS DOUBLE) <= 1000000000000
    THEN CAST(FLOOR(CAST(CAST(x AS VARCHAR) AS DOUBLE) / CAST(100 AS DOUBLE)) AS BIGINT)
END AS ix,
        CASE
    WHEN CAST(CAST(y AS VARCHAR) AS DOUBLE) > -0.000000001 AND CAST(CAST(y AS VARCHAR) AS DOUBLE) < 0 THEN -1
    WHEN CAST(CAST(y AS VARCHAR) AS DOUBLE) >= 0 AND CAST(CAST(y AS VARCHAR) AS DOUBLE) < 0.000000001 THEN 0
    WHEN CAST(CAST(y AS VARCHAR) AS DOUBLE) >= -1000000000000 AND CAST(CAST(y AS VARCHAR) AS DOUBLE) <= 1000000000000
    THEN CAST(FLOOR(CAST(CAST(y AS VARCHAR) AS DOUBLE) / CAST(100 AS DOUBLE)) AS BIGINT)
END AS iy,
        CASE
    WHEN CAST(t AS DOUBLE) >= -1000000000000 AND CAST(t AS DOUBLE) <= 1000000000000
    THEN CAST(FLOOR(CAST(t AS DOUBLE) / CAST(60 AS DOUBLE)) AS BIGINT)
END AS it        , c1
    FROM given
),
chosen_1 AS (
    SELECT number, person, k, first_level, ix, iy, it, 0 AS is_kept, 0 AS could_be, 0 AS level
    FROM placed
    WHERE is_missing = 0 AND ix IS NOT NULL AND iy IS NOT NULL AND it IS NOT NULL AND first_level < 1
),
named_0 AS (
    SELECT
        chosen_1.*,
        CASE
            WHEN ROW_NUMBER() OVER (
                PARTITION BY ix >> 0, iy >> 0, it >> 0, person
                ORDER BY person
            ) = 1 THEN 1
            ELSE 0
        END AS is_new_user
    FROM chosen_1
),
counted_0 AS (
    SELECT
        named_0.*,
        SUM(1) OVER (PARTITION BY ix >> 0, iy >> 0, it >> 0) AS tolerant,
        SUM(is_kept) OVER (PARTITION BY ix >> 0, iy >> 0, it >> 0) AS finer,
        SUM(is_new_user) OVER (PARTITION BY ix >> 0, iy >> 0, it >> 0) AS users
    FROM named_0
),
weighed_0 AS (
    SELECT
        counted_0.*,
        CASE WHEN users >= k THEN 1 ELSE 0 END AS can_share,
        CASE WHEN users >= k THEN tolerant ELSE 0 END AS sharing
    FROM counted_0
),
chosen_0 AS (
    SELECT
        number, person, k, first_level, ix, iy, it,
        CASE WHEN finer >= sharing THEN is_kept ELSE can_share END AS is_kept,
        GREATEST(could_be, can_share) AS could_be,
        CASE WHEN finer >= sharing THEN level ELSE 0 END AS level
    FROM weighed_0
),
boxed AS (
    SELECT
        placed.*, is_kept, could_be,
        CASE WHEN is_kept = 1 THEN level END AS level,
        CASE level WHEN 0 THEN placed.ix >> 0 END AS box_x,
        CASE level WHEN 0 THEN placed.iy >> 0 END AS box_y,
        CASE level WHEN 0 THEN placed.it >> 0 END AS box_t,
        CASE level WHEN 0 THEN CAST(100 AS DOUBLE) END AS box_side,
        CASE level WHEN 0 THEN CAST(60 AS DOUBLE) END AS box_length
    FROM placed
    LEFT JOIN chosen_0 ON placed.number = chosen_0.number
)

SELECT
    boxed.person AS person,
    boxed.k AS k,
    level,
    CASE
        WHEN is_kept = 1 THEN 0
        WHEN is_missing = 1 THEN 1
        WHEN boxed.ix IS NULL OR boxed.iy IS NULL OR boxed.it IS NULL THEN 2
        WHEN boxed.first_level >= 1 THEN 3
        WHEN could_be = 0 THEN 4
        ELSE 5
    END AS outcome,
    CASE WHEN is_kept = 1 THEN box_x * box_side END AS x_min,
    CASE WHEN is_kept = 1 THEN (box_x + 1) * box_side END AS x_max,
    CASE WHEN is_kept = 1 THEN box_y * box_side END AS y_min,
    CASE WHEN is_kept = 1 THEN (box_y + 1) * box_side END AS y_max,
    CASE WHEN is_kept = 1 THEN box_t * box_length END AS t_min,
    CASE WHEN is_kept = 1 THEN (box_t + 1) * box_length END AS t_max
    , boxed.c1 AS c1
FROM boxed
