{# What the labels of a column's levels stand for: rows, different values, what the entropy below them follows from,
   and of numbers the width. Values are counted in a dictionary (v, row_count, l1, l2, ...); * stands for all of them at
   the top. #}
{% for level in levels %}
SELECT
    {{ level }} AS level,
    l{{ level }} AS label,
    CAST(SUM(row_count) AS BIGINT) AS row_count,
    COUNT(*) AS value_count,
    SUM(row_count * LOG2(row_count)) AS weighted_bits,
    {{ "MAX(TRY_CAST(v AS DOUBLE)) - MIN(TRY_CAST(v AS DOUBLE))" if numeric else "CAST(NULL AS DOUBLE)" }} AS width
FROM {{ dictionary }} AS dictionary
WHERE row_count > 0
GROUP BY l{{ level }}
UNION ALL
{% endfor %}
SELECT
    {{ top }} AS level,
    '*' AS label,
    CAST(SUM(row_count) AS BIGINT) AS row_count,
    COUNT(*) AS value_count,
    SUM(row_count * LOG2(row_count)) AS weighted_bits,
    {{ "MAX(TRY_CAST(v AS DOUBLE)) - MIN(TRY_CAST(v AS DOUBLE))" if numeric else "CAST(NULL AS DOUBLE)" }} AS width
FROM {{ dictionary }} AS dictionary
WHERE row_count > 0
HAVING COUNT(*) > 0
ORDER BY level, label NULLS LAST
