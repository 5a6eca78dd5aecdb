{# The threshold of risk of μ-Argus (manual 4.1, equation 17; sdcMicro's `max_global_risk`): the largest risk r of the file
   for which the global risk is at most the wanted one when who is above r counts with r: (Σ risks up to r + r * rows above
   r) / rows. Rows with the same risk stand together. What agrees with the wanted risk in twelve digits is no more than it: sums
   differ in their last digits, and with them households of the same members, in whatever order these were read. #}
{% set EQUAL = "1.000000000001e0" %}

{# CTEs over `source` with the column risk: one row per risk, and how it would be with that as the threshold. `counted` has
   by name what a level adds up, `row_count` among it, and `homes` says whether households are counted, too. #}
{% macro levels(source, counted, homes) -%}
levels AS (
    SELECT
        risk,
        {% for name, what in counted.items() %}
        SUM({{ what }}) AS {{ name }}{{ "," if not loop.last }}
        {% endfor %}
    FROM {{ source }}
    GROUP BY risk
),
running AS (
    SELECT
        risk,
        {% for name in counted %}
        {{ name }},
        {% endfor %}
        SUM(row_count * risk) OVER (ORDER BY risk ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS kept,
        {% for name, what in [("row_count", "rows_above")] + ([("home_count", "homes_above")] if homes else []) %}
        SUM({{ name }}) OVER () - SUM({{ name }}) OVER (ORDER BY risk ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ what }},
        {% endfor %}
        SUM(row_count) OVER () AS all_rows
    FROM levels
),
bounded AS (
    SELECT
        running.*,
        (kept + risk * rows_above) / all_rows AS bound
    FROM running
)
{%- endmacro %}

{% macro chosen(most, homes) -%}
{% set held = "bound <= " ~ ("%.17e" | format(most)) ~ " * " ~ EQUAL %}
MAX(CASE WHEN {{ held }} THEN risk END) AS threshold,
    MAX(CASE WHEN {{ held }} THEN bound END) AS remaining,
    MIN(CASE WHEN {{ held }} THEN rows_above END) AS rows_above
    {%- if homes %},
    MIN(CASE WHEN {{ held }} THEN homes_above END) AS homes_above
    {%- endif %}

{%- endmacro %}
