/* sqlaudit: remedy_patterns */
WITH given AS NOT MATERIALIZED (
    SELECT
        "age" AS q1
    FROM patients
),
patterns AS (
    SELECT
        q1 AS q1,
        CAST(COUNT(*) AS BIGINT) AS size,
        CAST(ROW_NUMBER() OVER (ORDER BY q1 NULLS LAST) AS BIGINT) AS class_number
    FROM given
    GROUP BY q1
),
coded AS (
    SELECT
        class_number,
        size
        , CAST(CASE WHEN q1 IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY q1 NULLS LAST) END AS BIGINT) AS c1
    FROM patterns
)
SELECT *
FROM coded
ORDER BY class_number
