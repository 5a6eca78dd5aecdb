{# The cells of a table as they stand: their keys d0, d1, … and whatever else is asked of them. #}
{% macro listed(source, dimensions, measures, flags) %}
listed AS MATERIALIZED (
    SELECT
        {% for dimension in dimensions %}{{ ", " if not loop.first }}{{ dimension }} AS d{{ loop.index0 }}{% endfor %}
        {% for flag in flags %}, {{ flag }} AS t{{ loop.index0 }}{% endfor %}
        {% for measure in measures %}, {{ measure }} AS m{{ loop.index0 }}{% endfor %}

    FROM {{ source }}
)
{%- endmacro %}

{# The values of one dimension with their codes 1, 2, …; a missing one is 0. #}
{% macro dictionary(place) %}
dictionary_{{ place }} AS (
    SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS INTEGER) AS code
    FROM (SELECT DISTINCT d{{ place }} AS value FROM listed WHERE d{{ place }} IS NOT NULL) AS seen
)
{%- endmacro %}

{# Whether a value reads like a total. #}
{% macro reads_like_total(value) -%}
LOWER(TRIM(CAST({{ value }} AS VARCHAR))) IN ('total', 'all', 'sum', 'overall', 'gesamt', 'insgesamt', 'ensemble', 'totale', 'totaal', '_total', '__total__', '(all)')
{%- endmacro %}
