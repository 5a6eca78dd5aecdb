{# How far the sensitive values of all finest classes are from those of the table, added up. #}
SELECT CAST(COALESCE(SUM(deviation), 0) AS HUGEINT) AS deviation
FROM {{ tuples }} AS tuples
