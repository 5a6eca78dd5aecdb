{# Rows, those whose weight is no number above 0, and the largest weight (NaN is larger than all others). Where a cast fails,
   Spark writes the value into its log; here it gives NULL. #}
SELECT
    COUNT(*) AS total,
    COALESCE(SUM(CASE WHEN weight IS NULL OR NOT weight > 0 THEN 1 ELSE 0 END), 0) AS refused,
    MAX(CAST(weight AS DOUBLE)) AS largest
FROM (
    SELECT {{ "TRY_CAST(" ~ weight ~ " AS DOUBLE)" if dialect == "spark" else weight }} AS weight
    FROM {{ source }}
) AS weighted
