/* sqlaudit: profile_pairs */
WITH target AS (
    SELECT
        zip AS c0,
        age AS c1
    FROM patients
),
value_pairs AS (
    SELECT
        c0,
        c1,
        CASE WHEN GROUPING(c0) = 0 AND GROUPING(c1) = 0 THEN 0 END AS pair_number
    FROM target
    GROUP BY GROUPING SETS ((c0, c1))
)
SELECT
    pair_number,
    COUNT(*) AS value_pairs,
    SUM(CASE pair_number
        WHEN 0 THEN CASE WHEN CAST(c0 AS VARCHAR) IS DISTINCT FROM CAST(c1 AS VARCHAR) THEN 1 ELSE 0 END
    END) AS differing
FROM value_pairs
GROUP BY pair_number
ORDER BY pair_number
