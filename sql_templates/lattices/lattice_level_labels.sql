{# The labels of one level (values at level 0) with their rows, in the order of their values. #}
SELECT {{ "key" if not level else "l" ~ level }} AS label, CAST(SUM(row_count) AS BIGINT) AS row_count
FROM {{ dictionary }} AS dictionary
WHERE row_count > 0
GROUP BY {{ "key" if not level else "l" ~ level }}
ORDER BY MIN(id)
