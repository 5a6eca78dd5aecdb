{# Every different value of a sensitive attribute, in one table or in several releases of one; at most so many. #}
SELECT DISTINCT value_text
FROM (
    {% for place in places %}
    SELECT {{ place.value }} AS value_text FROM {{ place.source }}
    {{ "UNION ALL" if not loop.last }}
    {% endfor %}
) AS texts
WHERE value_text IS NOT NULL
LIMIT {{ most }}
