{# What patterns with NULLs are matched from: cells with codes of their values, 0 for NULL, and numbers for the pattern
   and for its mask, which says where it has NULLs. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as target with context %}

{% macro codes(keys) -%}
{% for column in keys %}k{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}
{%- endmacro %}

{% macro coded() %}
{% set key = rows.key_columns(keys, false) %}
{% set listed = key ~ ", " if key else "" %}
{{ target.target(source, keys, sensitive, entity, false) }},
{% if sensitive is not none %}
{{ target.lanes(entity, text) }},
{% endif %}
members AS MATERIALIZED (
    SELECT {{ listed }}{{ "e, " if entity is not none }}s, COUNT(*) AS row_count
    FROM target
    GROUP BY {{ listed }}{{ "e, " if entity is not none }}s
),
coded AS MATERIALIZED (
    SELECT
        numbered.*,
        {% if keys %}
        DENSE_RANK() OVER (ORDER BY {{ codes(keys) }}) AS id,
        DENSE_RANK() OVER (ORDER BY {% for column in keys %}CASE WHEN k{{ loop.index }} = 0 THEN 1 ELSE 0 END{{ ", " if not loop.last }}{% endfor %}) AS mask
        {% else %}
        1 AS id, 1 AS mask
        {% endif %}
    FROM (
        SELECT
            {{ listed }}
        {% for column in keys %}
            CASE WHEN q{{ loop.index }} IS NULL THEN 0 ELSE CAST(DENSE_RANK() OVER (ORDER BY q{{ loop.index }}) AS INTEGER) END AS k{{ loop.index }},
        {% endfor %}
            {{ "e," if entity is not none }}
            {{ "COALESCE(lanes.lane, " ~ null_lane ~ ")" if sensitive is not none else 0 }} AS lane,
            row_count
        FROM members
        {% if sensitive is not none %}
        LEFT JOIN lanes ON members.s = lanes.s
        {% endif %}
    ) AS numbered
)
{%- endmacro %}
