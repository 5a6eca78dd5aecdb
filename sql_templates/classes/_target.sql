{# The columns of an audit under short names: q1, q2, … the quasi-identifiers, s the sensitive attribute, e the
   entity. `solo` numbers the rows that form a class of their own (NULL read as distinct). #}
{% macro target(source, keys, sensitive, entity, solo) %}
target AS NOT MATERIALIZED (
    SELECT
    {% for key in keys %}
        {{ key }} AS q{{ loop.index }},
    {% endfor %}
    {% if solo %}
        CASE WHEN {% for key in keys %}{{ key }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN ROW_NUMBER() OVER () END AS solo,
    {% endif %}
    {% if entity is not none %}
        {{ entity }} AS e,
    {% endif %}
        {{ sensitive if sensitive is not none else "NULL" }} AS s
    FROM {{ source }}
)
{%- endmacro %}

{# The names of the class key's columns. #}
{% macro key_columns(keys, solo) -%}
{% for key in keys %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{{ ", solo" if solo and keys }}
{%- endmacro %}

{# Every sensitive value with its lane (its rank; NULL is last) and its total: rows, or persons with it. Text is
   ranked by code point on every engine. #}
{% macro lanes(entity, text) %}
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        ROW_NUMBER() OVER (ORDER BY s{{ ' COLLATE "C"' if text and dialect == "postgres" }} NULLS LAST) - 1 AS lane
    FROM (
        SELECT s, {{ "COUNT(DISTINCT e)" if entity is not none else "COUNT(*)" }} AS total
        FROM target
        GROUP BY s
    ) AS seen
)
{%- endmacro %}
