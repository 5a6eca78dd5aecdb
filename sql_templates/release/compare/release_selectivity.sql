{# How much of the original the cells of each column stand for on average. #}
SELECT
    {% for cells in all_cells %}
    (SELECT SUM(CAST(m AS DOUBLE) * covered_rows) FROM {{ cells }}) AS column_{{ loop.index }}{{ "," if not loop.last }}
    {% endfor %}
