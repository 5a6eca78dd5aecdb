{# The texts of a column's cells with numbers from 1 on, 0 for NULL. #}
SELECT
    CASE WHEN t IS NULL THEN 0 ELSE CAST(ROW_NUMBER() OVER (ORDER BY t NULLS LAST) AS INTEGER) END AS code,
    t, n
FROM {{ seen }} AS seen
