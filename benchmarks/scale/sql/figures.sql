{# k, l, the largest share of a value, and t (equal distance) from a histogram of cells. #}
WITH cells AS (
    SELECT * FROM {{ source }}
),
totals AS (
    SELECT s, SUM(c) AS total, SUM(SUM(c)) OVER () AS row_count
    FROM cells
    GROUP BY s
),
sizes AS (
    SELECT {{ columns | join(", ") }}, SUM(c) AS n
    FROM cells
    GROUP BY {{ columns | join(", ") }}
),
classes AS (
    SELECT
        ANY_VALUE(n) AS n,
        COUNT(*) AS l,
        MAX(c / n) AS alpha,
        -- half of the sum of absolute differences is the sum of the positive ones
        SUM(GREATEST(0, c / n - total / row_count)) AS t
    FROM cells
    JOIN sizes USING ({{ columns | join(", ") }})
    JOIN totals USING (s)
    GROUP BY {{ columns | join(", ") }}
)
SELECT
    CAST(MIN(n) AS BIGINT) AS k, MIN(l) AS l, MAX(alpha) AS alpha, MAX(t) AS t,
    CAST(SUM(n) AS BIGINT) AS row_count, COUNT(*) AS classes
FROM classes
