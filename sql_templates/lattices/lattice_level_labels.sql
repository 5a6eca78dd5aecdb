{# The first labels of one level (values at level 0), in the order of their values, each beside the number of all. #}
SELECT {{ "key" if not level else "l" ~ level }} AS label, COUNT(*) OVER () AS label_count
FROM {{ dictionary }} AS dictionary
WHERE row_count > 0
GROUP BY {{ "key" if not level else "l" ~ level }}
ORDER BY MIN(id)
LIMIT {{ most }}
