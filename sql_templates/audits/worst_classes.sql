{# How often each sensitive value occurs in a few classes: the largest of those that a condition names; without one, of
   those with two members or more the ones with the fewest different values, and the most frequent of these most frequent.
   Classes with the same counts are one row, unless `key_names` keeps them apart. A list of cells holds the lane in the
   bits from 40 on and the count below. #}
{% import "classes/_facts_relation.sql" as relation with context %}
{% macro first_come() %}
{{ "size DESC, " if condition }}distinct_values, CAST(largest AS DOUBLE) / n DESC, size DESC, n DESC, CAST(table_rows AS DOUBLE) / classes DESC
{%- endmacro %}
{% macro by_key() %}
{% for column, text in zip(key_names, collated) %}, {{ column }}{{ ' COLLATE "C"' if text and dialect == "postgres" }} NULLS LAST{% endfor %}
{%- endmacro %}
{% set key = key_names | join(", ") %}
{% set listed = key ~ ", " if key else "" %}
{% set lanes = [] %}
{% for lane in range(lane_count) %}{% set _ = lanes.append("c" ~ lane) %}{% endfor %}
{% set kept = lanes | join(", ") if form == "packed" else "cell_list" %}
WITH {{ relation.facts_relation(classes, totals, facts, form, listed ~ kept) }}
{%- if form == "packed" %}

SELECT {{ listed }}size, n, classes, table_rows, {{ kept }}
FROM facts
WHERE {{ condition or "size >= 2" }}
ORDER BY {{ first_come() }}{% for lane in lanes %}, NULLIF({{ lane }}, 0) NULLS LAST{% endfor %}{{ by_key() }}
LIMIT {{ limit }}
{%- else %},
ranked AS NOT MATERIALIZED (
    SELECT facts.*, DENSE_RANK() OVER (ORDER BY {{ first_come() }}) AS place
    FROM facts
    WHERE {{ condition or "size >= 2" }}
),
unfolded AS NOT MATERIALIZED (
    SELECT id, place, size, n, classes, table_rows, {{ listed }}UNNEST(cell_list) AS cell
    FROM ranked
    WHERE place <= {{ limit }}
),
written AS NOT MATERIALIZED (
    SELECT id, place, size, n, classes, table_rows, {{ listed }}ARRAY_AGG(cell ORDER BY cell) AS vector
    FROM unfolded
    GROUP BY id, place, size, n, classes, table_rows{{ ", " ~ key if key }}
)
{% if key %}
SELECT {{ listed }}size, n, classes, table_rows, vector
FROM written
ORDER BY place, vector{{ by_key() }}
{% else %}
SELECT
    size, n, CAST(SUM(classes) AS BIGINT) AS classes, CAST(SUM(table_rows) AS BIGINT) AS table_rows, vector
FROM written
GROUP BY place, size, n, vector
ORDER BY place, vector
{% endif %}
LIMIT {{ limit }}
{%- endif %}
