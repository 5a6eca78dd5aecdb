/* sqlaudit: attack_homogeneity */
WITH facts AS MATERIALIZED (
    SELECT
         classes, table_rows, size, n
        , 0 AS distinct_values
    FROM patients AS class
)
SELECT
    CAST(COALESCE(SUM(size * classes), 0) AS BIGINT) AS members,
    CAST(COALESCE(SUM(n * classes), 0) AS BIGINT) AS pairs,
    CAST(COALESCE(SUM(CASE WHEN distinct_values = 1 THEN size * classes ELSE 0 END), 0) AS BIGINT) AS exposed,
    CAST(COALESCE(SUM(CASE WHEN distinct_values = 1 THEN 1 * classes ELSE 0 END), 0) AS BIGINT) AS exposed_classes,
    CAST(COALESCE(SUM(CASE WHEN size = 1 THEN size * classes ELSE 0 END), 0) AS BIGINT) AS alone,
    CAST(COALESCE(SUM(CASE WHEN CAST(largest AS HUGEINT) * 10 >= CAST(n AS HUGEINT) * 9 THEN largest * classes ELSE 0 END), 0) AS BIGINT) AS nearly,
    CAST(COALESCE(SUM(largest * classes), 0) AS BIGINT) AS right_guesses,
    MAX(CAST(largest AS DOUBLE) / n) AS highest
FROM facts
