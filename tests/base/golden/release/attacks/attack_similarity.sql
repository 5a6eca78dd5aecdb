/* sqlaudit: attack_similarity */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
        , CASE WHEN c0 > 0 THEN 1 ELSE 0 END AS distinct_values
    FROM patients AS class
)
SELECT
    CAST(COALESCE(SUM(size * classes), 0) AS BIGINT) AS members,
    CAST(COALESCE(SUM(CASE WHEN (category_0 = n) THEN size * classes ELSE 0 END), 0) AS BIGINT) AS exposed,
    CAST(COALESCE(SUM(CASE WHEN (category_0 = n) THEN 1 * classes ELSE 0 END), 0) AS BIGINT) AS exposed_classes,
    CAST(COALESCE(SUM(CASE WHEN (category_0 = n) AND distinct_values > 1 THEN size * classes ELSE 0 END), 0) AS BIGINT) AS several_values,
    MAX(GREATEST(category_0, 0) / CAST(n AS DOUBLE)) AS highest
    , CAST(COALESCE(SUM(CASE WHEN category_0 = n THEN size * classes ELSE 0 END), 0) AS BIGINT) AS of_category_0
FROM facts
