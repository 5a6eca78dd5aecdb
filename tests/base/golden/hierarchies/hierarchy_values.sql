/* sqlaudit: hierarchy_values */
WITH target AS (
    SELECT "job" AS v
    FROM patients
),
counted AS (
    SELECT v, COUNT(*) AS row_count
    FROM target
    GROUP BY v
)
SELECT
    ROW_NUMBER() OVER (ORDER BY CAST(v AS VARCHAR) NULLS LAST) - 1 AS id,
    v,
    CAST(v AS VARCHAR) AS key,
    row_count
FROM counted
