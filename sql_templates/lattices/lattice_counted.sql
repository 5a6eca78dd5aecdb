{# Every combination of values that occurs, and its rows. #}
SELECT {% for column in columns %}q{{ loop.index0 }}, {% endfor %}COUNT(*) AS c
FROM (
    SELECT
    {% for column in columns %}
        {{ column.sql }} AS q{{ loop.index0 }},
    {% endfor %}
        1 AS one
    FROM {{ source }}
) AS target
{% if columns %}
GROUP BY {% for column in columns %}q{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}
{% else %}
HAVING COUNT(*) > 0
{% endif %}
