{# A class function that is a curve, over a number: the tree of `classes/inputs.py` as SQL. #}
{% macro number(value) %}CAST({{ value }} AS DOUBLE){% endmacro %}
{% macro curve(tree, x) %}
{%- set kind = tree[0] -%}
{%- if kind == "x" -%}{{ x }}
{%- elif kind == "number" -%}{{ number(tree[1]) }}
{%- elif kind == "points" -%}
CASE{% for right, high in tree[1][1:] %}{% set left, low = tree[1][loop.index0] %} WHEN {{ x }} <= {{ number(right) }} THEN {{ number(low) }} + {{ number((high - low) / (right - left)) }} * ({{ x }} - {{ number(left) }}){% endfor %} END
{%- elif kind == "negative" -%}(-{{ curve(tree[1], x) }})
{%- elif kind in ["+", "-", "*", "/"] -%}({{ curve(tree[1], x) }} {{ kind }} {{ curve(tree[2], x) }})
{%- else -%}{{ kind | upper }}({% for part in tree[1:] %}{{ curve(part, x) }}{{ ", " if not loop.last }}{% endfor %})
{%- endif -%}
{% endmacro %}
