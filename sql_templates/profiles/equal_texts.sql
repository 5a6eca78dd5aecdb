{# How many values of each column are written in several ways and yet equal, among the first rows. #}
WITH target AS (
    SELECT
    {% for column in columns %}
        {{ column }} AS c{{ loop.index0 }}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ source }}
    LIMIT {{ first }}
)
{% for column in columns %}
SELECT {{ loop.index0 }} AS column_number, COUNT(*) AS values_with_several_texts
FROM (
    SELECT 1 AS one
    FROM target
    WHERE c{{ loop.index0 }} IS NOT NULL
    GROUP BY c{{ loop.index0 }}
    HAVING COUNT(DISTINCT CAST(c{{ loop.index0 }} AS VARCHAR)) > 1
) AS value_groups
{{ "UNION ALL" if not loop.last }}
{% endfor %}
