{# Facts of a class, one macro a fact. What a cell contributes stands here; how the cells of a class become one number
   stands in each of the two physical forms, _packed.sql and _cells.sql, in macros with the same names. In a cell: c = rows of
   the class with the value, t = rows of the table with it, lane = the value's rank. Around it: n = rows of the class,
   total = rows of the table. Every cell expression is neutral at c = 0. Products of counts are taken in a type that does
   not overflow. #}
{% import "classes/_counts.sql" as listed with context %}
{% import "classes/_packed.sql" if form == "packed" else "classes/_cells.sql" as cells with context %}

{# The rows of the class in a type in which products do not overflow. #}
{% macro wide_n() %}{{ cells.wide_n() }}{% endmacro %}

{# How many different sensitive values the class has. #}
{% macro distinct_values() %}{% call(c, t, lane) cells.fold("sum") %}CASE WHEN {{ c }} > 0 THEN 1 ELSE 0 END{% endcall %}{% endmacro %}

{# The count of the most frequent value. #}
{% macro largest() %}{% call(c, t, lane) cells.fold("max") %}{{ c }}{% endcall %}{% endmacro %}

{# The count of the rarest value that occurs. #}
{% macro smallest() %}{% call(c, t, lane) cells.fold("min") %}CASE WHEN {{ c }} > 0 THEN {{ c }} END{% endcall %}{% endmacro %}

{# The sum of the j largest counts. #}
{% macro head(j) %}{{ cells.head(j) }}{% endmacro %}

{# The largest l for which recursive (c,l) holds, c = numerator/denominator: with r the largest count of the given
   values (none = all) and R(i) the sum of the i largest counts of all, one more than the ranks i where
   n - R(i-1) - min(r_i, r) is more than r/c. NULL when none of the given values occurs: it holds for every l. #}
{% macro largest_l(numerator, denominator, lanes=none) %}{{ cells.largest_l(numerator, denominator, lanes) }}{% endmacro %}

{# The largest counts, largest first, as an array. #}
{% macro top(count) %}{{ cells.top(count) }}{% endmacro %}

{# Sum of c ln c; the entropy is ln n minus this over n. #}
{% macro count_log_count() %}{% call(c, t, lane) cells.fold("sum") %}CASE WHEN {{ c }} > 0 THEN {{ c }} * LN(CAST({{ c }} AS DOUBLE)) ELSE 0.0 END{% endcall %}{% endmacro %}

{# Rows with one of the given values. #}
{% macro members(lanes) %}{{ cells.members(lanes) }}{% endmacro %}

{# The count of the most frequent, and of the rarest, of the given values (absent counts as 0). #}
{% macro largest_of(lanes) %}{{ cells.largest_of(lanes) }}{% endmacro %}
{% macro smallest_of(lanes) %}{{ cells.smallest_of(lanes) }}{% endmacro %}

{# The rows of the largest of several sets of values, and of the j largest together. #}
{% macro largest_set(sets) %}{% call(lanes) listed.over(sets, "max") %}{{ cells.members(lanes) }}{% endcall %}{% endmacro %}
{% macro head_of_sets(sets, j) -%}
{% set counts %}{% for lanes in sets %}{{ cells.members(lanes) }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
{% if j < sets | length -%}
{{ listed.head(counts, j) if j else "0" }}
{%- else -%}
{% call(lanes) listed.over(sets, "sum") %}{{ cells.members(lanes) }}{% endcall %}
{%- endif %}
{%- endmacro %}

{# Which of several groups of values occur, as a number: groups is a list of (lanes, weight). #}
{% macro presence(groups) %}({{ "0" if not groups }}{% for lanes, weight in groups %}{% call(c, t, lane) cells.fold("max", lanes) %}CASE WHEN {{ c }} > 0 THEN {{ weight }} ELSE 0 END{% endcall %}{{ " + " if not loop.last }}{% endfor %}){% endmacro %}

{# The highest and the lowest place that occurs, in an order of the lanes (places[lane]). #}
{% macro last_place(places) %}{% call(c, t, lane) cells.fold("max") %}CASE WHEN {{ c }} > 0 THEN {{ cells.place(places, lane) }} END{% endcall %}{% endmacro %}
{% macro first_place(places) %}{% call(c, t, lane) cells.fold("min") %}CASE WHEN {{ c }} > 0 THEN {{ cells.place(places, lane) }} END{% endcall %}{% endmacro %}

{# The highest and the lowest rank that occurs. #}
{% macro last_lane() %}{% call(c, t, lane) cells.fold("max") %}CASE WHEN {{ c }} > 0 THEN {{ lane }} END{% endcall %}{% endmacro %}
{% macro first_lane() %}{% call(c, t, lane) cells.fold("min") %}CASE WHEN {{ c }} > 0 THEN {{ lane }} END{% endcall %}{% endmacro %}

{# Largest and smallest c/t over the values that occur: relative gain of a value is (c/t)(total/n) - 1. #}
{% macro largest_lift() %}{% call(c, t, lane) cells.fold("max") %}CAST({{ c }} AS DOUBLE) / {{ t }}{% endcall %}{% endmacro %}
{% macro smallest_lift() %}{% call(c, t, lane) cells.fold("min") %}CASE WHEN {{ c }} > 0 THEN CAST({{ c }} AS DOUBLE) / {{ t }} END{% endcall %}{% endmacro %}

{# Values whose relative gain exceeds numerator/denominator, exactly. #}
{% macro gains_above(numerator, denominator) %}{% call(c, t, lane) cells.fold("sum") %}CASE WHEN CAST({{ c }} AS {{ wide }}) * {{ total }} * {{ denominator }} > CAST(n AS {{ wide }}) * {{ t }} * {{ numerator + denominator }} THEN 1 ELSE 0 END{% endcall %}{% endmacro %}

{# Rows with a value whose relative gain exceeds numerator/denominator, exactly. #}
{% macro members_gaining(numerator, denominator) %}{% call(c, t, lane) cells.fold("sum") %}CASE WHEN CAST({{ c }} AS {{ wide }}) * {{ total }} * {{ denominator }} > CAST(n AS {{ wide }}) * {{ t }} * {{ numerator + denominator }} THEN {{ c }} ELSE 0 END{% endcall %}{% endmacro %}

{# Values whose relative gain exceeds -ln of their share of the table. Of a value that is not more frequent than in the
   table it is at most 0, and -ln of a share is more than that. #}
{% macro gains_above_log() %}{% call(c, t, lane) cells.fold("sum") %}CASE WHEN CAST({{ c }} AS DOUBLE) * {{ total }} / (CAST(n AS DOUBLE) * {{ t }}) - 1 > -LN(CAST({{ t }} AS DOUBLE) / {{ total }}) THEN 1 ELSE 0 END{% endcall %}{% endmacro %}

{# Half of this over n * total is the equal-distance earth mover's distance from the table: sum of |c total - t n|.
   Written so that absent values add t n each without being visited. #}
{% macro equal_distance() %}(CAST(n AS {{ wide }}) * {{ total }} + {% call(c, t, lane) cells.fold("sum") %}(ABS(CAST({{ c }} AS {{ wide }}) * {{ total }} - CAST(n AS {{ wide }}) * {{ t }}) - CAST(n AS {{ wide }}) * {{ t }}){% endcall %}){% endmacro %}

{# The same for values merged into groups (a level of a tree): groups is a list of lists of lanes. #}
{% macro grouped_distance(groups) %}{{ cells.grouped_distance(groups) }}{% endmacro %}

{# Sum over ranks of |cumulative c total - cumulative t n|; over (M-1) n total it is the ordered distance. #}
{% macro ordered_distance(order) %}{{ cells.ordered_distance(order) }}{% endmacro %}
