/* sqlaudit: columns_sample */
WITH numbered AS (
    SELECT
        "a" AS c0,
        ROW_NUMBER() OVER () AS number
    FROM patients
),
drawn AS (
    SELECT *
    FROM numbered
    WHERE MD5('0:' || CAST(number AS VARCHAR)) < '0000000000abcdef'
)
SELECT
    CAST(CASE WHEN c0 IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY c0) END AS INTEGER) AS c0
FROM drawn
