{# Several expressions as one, and lists of counts: what both forms of facts (_packed.sql, _cells.sql) are made of. #}

{# The sum, the largest or the smallest of one expression for each item; 0 where there is none. #}
{% macro over(items, operation) -%}
{% set several = items | length > 1 %}
{{ {"sum": "(", "max": "GREATEST(", "min": "LEAST("}[operation] if several }}
{%- for item in items %}{{ caller(item) }}{{ (" + " if operation == "sum" else ", ") if not loop.last }}{% else %}0{% endfor %}
{{- ")" if several }}
{%- endmacro %}

{# The sum of the largest counts of a list. #}
{% macro head(counts, count) -%}
{% if dialect == "duckdb" -%}
CAST(LIST_SUM(LIST_SORT([{{ counts }}], 'DESC')[1:{{ count }}]) AS BIGINT)
{%- elif dialect == "spark" -%}
AGGREGATE(LIST_SORT([{{ counts }}], 'DESC')[1:{{ count }}], CAST(0 AS BIGINT), (taken, x) -> taken + x)
{%- else -%}
(SELECT SUM(h.x) FROM (SELECT u.x FROM UNNEST([{{ counts }}]) AS u(x) ORDER BY u.x DESC LIMIT {{ count }}) AS h)
{%- endif %}
{%- endmacro %}

{# The largest counts of a list, as an array. #}
{% macro top(counts, count) -%}
{% if dialect in ("duckdb", "spark") -%}
LIST_SORT([{{ counts }}], 'DESC')[1:{{ count }}]
{%- else -%}
ARRAY(SELECT u.x FROM UNNEST([{{ counts }}]) AS u(x) ORDER BY u.x DESC LIMIT {{ count }})
{%- endif %}
{%- endmacro %}

{# See largest_l in _facts.sql: of a list of so many counts, where the largest of the given values is `top`. #}
{% macro largest_l(counts, length, top, numerator, denominator) -%}
{% if dialect == "duckdb" -%}
{% set sorted = "LIST_SORT([" ~ counts ~ "], 'DESC')" %}
CASE WHEN {{ top }} > 0 THEN 1{% for rank in range(length) %} + CASE WHEN CAST(n - {{ "LIST_SUM(" ~ sorted ~ "[1:" ~ rank ~ "])" if rank else "0" }} - LEAST({{ sorted }}[{{ rank + 1 }}], {{ top }}) AS {{ wide }}) * {{ numerator }} > CAST({{ top }} AS {{ wide }}) * {{ denominator }} THEN 1 ELSE 0 END{% endfor %} END
{%- elif dialect == "spark" -%}
{% set next = "CASE WHEN CAST(walk.rest - LEAST(x, " ~ top ~ ") AS " ~ wide ~ ") * " ~ numerator ~ " > CAST(" ~ top ~ " AS " ~ wide ~ ") * " ~ denominator ~ " THEN 1 ELSE 0 END" %}
CASE WHEN {{ top }} > 0 THEN AGGREGATE(LIST_SORT([{{ counts }}], 'DESC'), {'rest': CAST(n AS BIGINT), 'l': CAST(1 AS BIGINT)}, (walk, x) -> {'rest': walk.rest - x, 'l': walk.l + {{ next }}}, walk -> walk.l) END
{%- else -%}
CASE WHEN {{ top }} > 0 THEN 1 + (SELECT COUNT(*) FROM (SELECT u.x, SUM(u.x) OVER (ORDER BY u.x DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running FROM UNNEST([{{ counts }}]) AS u(x)) AS h WHERE CAST(n - h.running + h.x - LEAST(h.x, {{ top }}) AS {{ wide }}) * {{ numerator }} > CAST({{ top }} AS {{ wide }}) * {{ denominator }}) END
{%- endif %}
{%- endmacro %}
