{# One rule over the cells of a published table, as one SELECT with one row. Totals may give hidden cells back, which no
   single cell tells: with any, nothing passes. Nor does anything where a dimension has what may be a total: rows that were
   left out follow from it. `returns`: see `_answers.sql`. #}
{% import "gates/standalone/_answers.sql" as answers %}
{% import "models/_cell_rules.sql" as rules %}
{% import "tabular/_tabular_codes.sql" as codes %}
{% set doubts = [] %}
{% for _ in dimensions %}
{% set _ = doubts.append("d" ~ loop.index0 ~ " IS NULL OR " ~ codes.reads_like_total("d" ~ loop.index0)) %}
{% endfor %}
{% if "x1" in columns %}
{% set _ = doubts.append("x <> 0 AND x1 IS NULL") %}
{% for place in range(2, columns | length) if "x" ~ place in columns %}
{% set _ = doubts.append("x" ~ (place - 1) ~ " < x" ~ place) %}
{% endfor %}
{% endif %}
WITH cells AS (
    SELECT
        {% for name, column in columns.items() %}{{ ", " if not loop.first }}{{ column }} AS {{ name }}{% endfor %}
        {% for one in dimensions %}, {{ one }} AS d{{ loop.index0 }}{% endfor %}

    FROM {{ source }}
),
counted AS (
    SELECT
        COUNT(*) AS cells,
        COALESCE(SUM(CASE WHEN {{ published }} IS NULL THEN 1 ELSE 0 END), 0) AS hidden_cells,
        {{ "COALESCE(SUM(CASE WHEN " ~ doubts | join(" OR ") ~ " THEN 1 ELSE 0 END), 0)" if doubts else 0 }} AS undecided_cells,
        COALESCE(SUM(CASE WHEN {{ rules[macro](**arguments) }} THEN 1 ELSE 0 END), 0) AS unsafe_cells
    FROM cells
)
{{- answers.opening(returns) }}
SELECT
    counted.*,
    CASE WHEN unsafe_cells > 0 THEN 'fail' WHEN cells = 0 OR hidden_cells > 0 OR undecided_cells > 0 THEN 'undecided' ELSE 'pass' END AS verdict
FROM counted
{{ answers.closing(returns, test_id, "unsafe_cells", "unsafe_cells", row_columns) }}
