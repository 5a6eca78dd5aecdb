{# The relation of class facts over the classes of either form. #}
{% macro facts_relation(classes, totals, facts, cells, form, keep) %}
{% import "_facts.sql" as macros with context %}
{% if form == "packed" %}
facts AS MATERIALIZED (
    SELECT
        {{ keep ~ "," if keep }} classes, table_rows, size, n
    {% for fact in facts %}
        , {{ macros[fact.macro](**fact.arguments) }} AS {{ fact.name }}
    {% endfor %}
    FROM {{ classes }} AS class
)
{%- else %}
class AS MATERIALIZED (
    SELECT * FROM {{ classes }} AS class
),
long AS (
    SELECT id, n, UNNEST(lane_list) AS lane, UNNEST(count_list) AS c
    FROM class
),
{{ cells.preparations(totals, facts, wide, total) }}
folded AS (
    SELECT
        long.id
    {% for fact in facts %}
        , {{ macros[fact.macro](**fact.arguments) }} AS {{ fact.name }}
    {% endfor %}
    FROM {{ cells.source(facts) }}
    GROUP BY long.id, long.n
),
facts AS MATERIALIZED (
    SELECT class.*{% for fact in facts %}, folded.{{ fact.name }}{% endfor %}

    FROM class
    JOIN folded ON class.id = folded.id
)
{%- endif %}
{% endmacro %}
