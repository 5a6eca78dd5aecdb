{# The inflation of volumes when columns are independent: for each row the product over the columns of the rows under its
   cell over the rows with its value; and the same if every cell could be anything. #}
WITH pairs AS (
    SELECT {% for place in places %}v{{ place }}, g{{ place }}, {% endfor %}SUM(n) AS n
    FROM {{ source }}
    GROUP BY {% for place in places %}v{{ place }}, g{{ place }}{{ ", " if not loop.last }}{% endfor %}

)
SELECT
    COALESCE(
        SUM(
            CAST(pairs.n AS DOUBLE)
            {% for column in columns %}
            * COALESCE(cells_{{ loop.index }}.covered_rows, {{ rows }}) / words_{{ loop.index }}.row_count
            {% endfor %}
        ), 0
    ) AS independent,
    COALESCE(
        SUM(
            CAST(pairs.n AS DOUBLE)
            {% for column in columns %}
            * {{ rows }} / words_{{ loop.index }}.row_count
            {% endfor %}
        ), 0
    ) AS independent_most
FROM pairs
{% for column in columns %}
JOIN {{ column.words }} AS words_{{ loop.index }} ON pairs.v{{ places[loop.index0] }} = words_{{ loop.index }}.id
LEFT JOIN {{ column.cells }} AS cells_{{ loop.index }} ON pairs.g{{ places[loop.index0] }} = cells_{{ loop.index }}.code
{% endfor %}
