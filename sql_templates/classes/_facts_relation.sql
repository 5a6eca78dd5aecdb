{# The relation of class facts over the classes of either form. `keep` are columns of the classes that it has, too; with
   `again` the classes are there beside it, as `class`, with the same ids. Facts of lists of cells that are kept for the
   session (`kept_facts`) are read; facts that are read `once` are not written out. #}
{% macro facts_relation(classes, totals, facts, form, keep, again=false) %}
{% import "classes/_facts.sql" as macros with context %}
{% if kept_facts is defined and kept_facts %}
{% if keep or again %}
class AS NOT MATERIALIZED (
    SELECT * FROM {{ classes }} AS class
),
{% endif %}
facts AS NOT MATERIALIZED (
    {% if keep %}
    SELECT folded.*, {{ keep }}
    FROM class
    JOIN {{ kept_facts }} AS folded ON class.id = folded.id
    {% else %}
    SELECT * FROM {{ kept_facts }} AS folded
    {% endif %}
)
{%- elif form == "packed" %}
facts AS MATERIALIZED (
    SELECT
        {{ keep ~ "," if keep }} classes, table_rows, size, n
    {% for fact in facts %}
        , {{ widened(fact, macros[fact.macro](**fact.arguments)) }} AS {{ fact.name }}
    {% endfor %}
    FROM {{ classes }} AS class
)
{%- else %}
{% import "classes/_cells.sql" as cells with context %}
class AS {{ "MATERIALIZED" if keep or again else "NOT MATERIALIZED" }} (
    SELECT * FROM {{ classes }} AS class
),
long AS NOT MATERIALIZED (
    SELECT
        id, n, size, classes, table_rows,
        cell >> 40 AS lane,
        cell & {{ 2 ** 40 - 1 }} AS c
    FROM (
        SELECT id, n, size, classes, table_rows, UNNEST(cell_list) AS cell
        FROM class
    ) AS unfolded
),
{{ cells.preparations(totals) -}}
{{ "folded" if keep else "facts" }} AS {{ "NOT " if once is defined and once }}MATERIALIZED (
    SELECT
        long.id,
        long.n,
        MAX(long.size) AS size,
        MAX(long.classes) AS classes,
        MAX(long.table_rows) AS table_rows
    {% for fact in facts %}
        , {{ widened(fact, macros[fact.macro](**fact.arguments)) }} AS {{ fact.name }}
    {% endfor %}
    FROM {{ cells.source() }}
    GROUP BY long.id, long.n
)
{%- if keep %},
facts AS MATERIALIZED (
    SELECT folded.*, {{ keep }}
    FROM class
    JOIN folded ON class.id = folded.id
)
{%- endif %}
{%- endif %}
{% endmacro %}

{# A fact in the type in which predicates multiply it, where it was made in a narrower one (`wider`). #}
{% macro widened(fact, made) -%}
{{ "CAST(" ~ made ~ " AS " ~ wider ~ ")" if wider is defined and wider and fact.macro in ("wide_n", "equal_distance", "grouped_distance", "ordered_distance") else made }}
{%- endmacro %}
