{# One rule over the cells of a published table, as one SELECT with one row. Totals may give hidden cells back, which no
   single cell tells: with any, nothing passes. `returns`: see `_answers.sql`. #}
{% import "gates/standalone/_answers.sql" as answers %}
{% import "models/_cell_rules.sql" as rules %}
WITH cells AS (
    SELECT
        {% for name, column in columns.items() %}{{ ", " if not loop.first }}{{ column }} AS {{ name }}{% endfor %}

    FROM {{ source }}
),
counted AS (
    SELECT
        COUNT(*) AS cells,
        COALESCE(SUM(CASE WHEN {{ published }} IS NULL THEN 1 ELSE 0 END), 0) AS hidden_cells,
        {% if "x1" in columns %}
        COALESCE(SUM(CASE WHEN x <> 0 AND x1 IS NULL THEN 1 ELSE 0 END), 0) AS undecided_cells,
        {% else %}
        0 AS undecided_cells,
        {% endif %}
        COALESCE(SUM(CASE WHEN {{ rules[macro](**arguments) }} THEN 1 ELSE 0 END), 0) AS unsafe_cells
    FROM cells
)
{{- answers.opening(returns) }}
SELECT
    counted.*,
    CASE WHEN unsafe_cells > 0 THEN 'fail' WHEN cells = 0 OR hidden_cells > 0 OR undecided_cells > 0 THEN 'undecided' ELSE 'pass' END AS verdict
FROM counted
{{ answers.closing(returns, test_id, "unsafe_cells", "unsafe_cells", row_columns) }}
