{# What the statement of a check returns besides its figures: the one row of figures is `answered`, `level` and `short`
   are its columns for the main figure and for how much fails. The SELECT around it stands behind the last CTE and
   not around a subquery, which T-SQL allows no WITH in. #}
{% macro opening(returns) %}{% if returns %},
answered AS ({% endif %}{% endmacro %}

{# `row` has the same columns for every check, so that the answers of all fit one table; `row_columns` are figures by
   those names. Its level is finite: JSON has no infinity, and clients write NULL instead. The others are for tools that
   take a truth, the failures, a number of them, or the figure itself. #}
{% macro closing(returns, test_id, level, short, row_columns) -%}
{% if returns == "row" %}
)
SELECT
    '{{ test_id }}' AS test_id,
{% for name, figure in row_columns.items() %}
    {{ figure }} AS {{ name }},
{% endfor %}
    CASE WHEN CAST({{ level }} AS DOUBLE) > 1.797693134862315E308 THEN 1.797693134862315E308 ELSE CAST({{ level }} AS DOUBLE) END AS level,
    verdict
FROM answered
{%- elif returns == "verdict" %}
)
SELECT CASE WHEN verdict = 'pass' THEN 1 ELSE 0 END AS passed
FROM answered
{%- elif returns == "failing-rows" %}
)
SELECT answered.*
FROM answered
WHERE verdict <> 'pass'
{%- elif returns == "count" %}
)
SELECT CASE WHEN verdict = 'pass' THEN 0 WHEN {{ short }} > 0 THEN {{ short }} ELSE 1 END AS failing
FROM answered
{%- elif returns == "metric" %}
)
SELECT CASE WHEN verdict <> 'undecided' THEN {{ level }} END AS metric
FROM answered
{%- endif %}
{%- endmacro %}
