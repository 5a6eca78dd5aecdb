/* sqlaudit: equal_texts */
WITH target AS (
    SELECT
        "x_min" AS c0
    FROM patients
    LIMIT 20000
)
SELECT 0 AS column_number, COUNT(*) AS values_with_several_texts
FROM (
    SELECT 1 AS one
    FROM target
    WHERE c0 IS NOT NULL
    GROUP BY c0
    HAVING COUNT(DISTINCT CAST(c0 AS VARCHAR)) > 1
) AS value_groups
