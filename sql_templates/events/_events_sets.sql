{# Sets of several events of one person, each set once, the rarest event first; in a `sequence` each choice of events of a
   person, in the order of their moments, what happens at the same moment in the order of numbers. #}
{% macro of_persons(own, size) -%}
{{ own }} AS own1
{% for place in range(2, size + 1) %}
JOIN {{ own }} AS own{{ place }} ON own{{ place }}.person = own1.person AND {{ is_behind(place) }}
{% endfor %}
{%- endmacro %}

{# That an event stands behind the one before it. #}
{% macro is_behind(place) -%}
{% set this, last = "own" ~ place, "own" ~ (place - 1) %}
{% if sequence %}({{ this }}.moment > {{ last }}.moment OR {{ this }}.moment = {{ last }}.moment AND {{ this }}.event > {{ last }}.event){% else %}{{ this }}.event > {{ last }}.event{% endif %}
{%- endmacro %}

{# That a LEFT JOIN found its row. Inner joins are done in an order that the database estimates, and two tables that both name
   an event of a person look as if few of their rows met: it would join these first, most of all rows with most others. A LEFT
   JOIN stays where it is written, as long as its filter hangs on another table, too (all of these numbers are 0 or more). #}
{% macro is_found(number, other) -%}
COALESCE({{ number }}, {{ other }} * 0 - 1) >= 0
{%- endmacro %}

{# The columns that name a set. #}
{% macro names(size) -%}
{% for place in range(1, size + 1) %}e{{ place }}{{ ", " if not loop.last }}{% endfor %}
{%- endmacro %}

{# What names an event of a set: its number; in a sequence negative where it happens when the one before it does. #}
{% macro item(place, before) -%}
{% if sequence and before %}CASE WHEN own{{ place }}.moment > own{{ before }}.moment THEN own{{ place }}.event ELSE -own{{ place }}.event END{% else %}own{{ place }}.event{% endif %}
{%- endmacro %}

{# That a row of `of_persons` is the set. #}
{% macro is_set(size, set) -%}
{% for place in range(1, size + 1) %}{{ set }}.e{{ place }} = {{ item(place, place - 1) }}{{ " AND " if not loop.last }}{% endfor %}
{%- endmacro %}

{# The condition that a part, all but one event of a row, is a set of the level before. #}
{% macro is_part(size, left_out, part) -%}
{% for place in range(1, size + 1) if place != left_out %}{{ part }}.e{{ loop.index }} = {{ item(place, loop.previtem | default(0)) }}{{ " AND " if not loop.last }}{% endfor %}
{%- endmacro %}

{# A person's number as one that is cheap to add up: up to 2^25 the squares of four are exact in floating point, and the sums
   of more persons are never read. #}
{% macro number(person) -%}
CAST({{ person }} AS {{ "BIGINT" if many else "DOUBLE" }})
{%- endmacro %}

{# Whether a place's event is repeated by another one of the set: then the rest without it is nothing that one can know. #}
{% macro is_repeated(size, place) -%}
own{{ place }}.event IN ({% for other in range(1, size + 1) if other != place %}COALESCE(own{{ other }}.repeated, 0){{ ", " if not loop.last }}{% endfor %})
{%- endmacro %}

{# That what an event repeats is known, too. #}
{% macro is_whole(size) -%}
{% for place in range(1, size + 1) %}
(own{{ place }}.repeated IS NULL OR own{{ place }}.repeated IN ({% for other in range(1, size + 1) if other != place %}own{{ other }}.event{{ ", " if not loop.last }}{% endfor %})){{ " AND " if not loop.last }}
{% endfor %}
{%- endmacro %}
