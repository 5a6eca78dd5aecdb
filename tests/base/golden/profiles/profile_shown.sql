/* sqlaudit: profile_shown */
WITH target AS (
    SELECT
        zip AS c0
    FROM patients
),
value_groups AS MATERIALIZED (
    SELECT
        c0,
        CASE WHEN GROUPING(c0) = 0 THEN 0 END AS column_number,
        COUNT(*) AS n
    FROM target
    GROUP BY GROUPING SETS ((c0))
),
ranked AS (
    SELECT
        column_number,
        n,
        CASE column_number WHEN 0 THEN CAST(c0 AS VARCHAR) END AS spelling,
        ROW_NUMBER() OVER (PARTITION BY column_number ORDER BY c0) AS from_first,
        ROW_NUMBER() OVER (PARTITION BY column_number ORDER BY c0 DESC) AS from_last,
        ROW_NUMBER() OVER (PARTITION BY column_number ORDER BY n DESC, c0) AS by_rows
    FROM value_groups
    WHERE c0 IS NOT NULL
)
SELECT column_number, spelling, n, from_first, from_last, by_rows
FROM ranked
WHERE from_first = 1 OR from_last = 1 OR by_rows <= 3
ORDER BY column_number, by_rows
