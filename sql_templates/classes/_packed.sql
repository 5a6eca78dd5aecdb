{# The packed form: the count of the value in lane i is the column ci of a class, and its total in the table is
   `lane_totals[i]`. A fact is one expression over the lanes. The long form, _cells.sql, has the same macros. #}
{% import "classes/_counts.sql" as listed with context %}
{% set all_lanes = range(lane_totals | length) %}
{% set all_counts %}{% for lane in all_lanes %}c{{ lane }}{{ ", " if not loop.last }}{% endfor %}{% endset %}

{# One expression over the lanes (all of them, or the given ones) from what each contributes. #}
{% macro fold(operation, lanes=none) -%}
{% set cell = caller %}
{% call(lane) listed.over(all_lanes if lanes is none else lanes, operation) %}{{ cell("c" ~ lane, lane_totals[lane], lane) }}{% endcall %}
{%- endmacro %}

{# The rows with one of some values, and the largest and the smallest count of these. #}
{% macro members(lanes) %}{% call(lane) listed.over(lanes, "sum") %}c{{ lane }}{% endcall %}{% endmacro %}
{% macro largest_of(lanes) %}{% call(lane) listed.over(lanes, "max") %}c{{ lane }}{% endcall %}{% endmacro %}
{% macro smallest_of(lanes) %}{% call(lane) listed.over(lanes, "min") %}c{{ lane }}{% endcall %}{% endmacro %}

{% macro wide_n() %}CAST(n AS {{ wide }}){% endmacro %}

{% macro head(count) -%}
{{ "n" if count >= all_lanes | length else largest_of(all_lanes) if count == 1 else listed.head(all_counts, count) }}
{%- endmacro %}

{% macro top(count) %}{{ listed.top(all_counts, count) }}{% endmacro %}

{% macro largest_l(numerator, denominator, lanes) -%}
{% set watched = all_lanes if lanes is none else lanes %}
{{ listed.largest_l(all_counts, all_lanes | length, largest_of(watched), numerator, denominator) if watched else "CAST(NULL AS BIGINT)" }}
{%- endmacro %}

{% macro place(places, lane) %}{{ places[lane] }}{% endmacro %}

{% macro grouped_distance(groups) %}{% call(lanes) listed.over(groups, "sum") %}{{ deviation(lanes) }}{% endcall %}{% endmacro %}

{# A lane below 0 is a value of no row. #}
{% macro ordered_distance(order) -%}
{% call(rank) listed.over(range(order | length - 1), "sum") %}{{ deviation(order[:rank + 1] | select("ge", 0) | list) }}{% endcall %}
{%- endmacro %}

{# |count total - table's count n| of some values together. #}
{% macro deviation(lanes) -%}
{% set table = namespace(count=0) %}
{% for lane in lanes %}{% set table.count = table.count + lane_totals[lane] %}{% endfor %}
ABS(CAST({{ members(lanes) }} AS {{ wide }}) * {{ total }} - CAST(n AS {{ wide }}) * {{ table.count }})
{%- endmacro %}
