{# What audits add to `_rows.sql`: the columns of an audit as a relation, and the lanes of sensitive values. #}
{% from "classes/_rows.sql" import target_columns %}

{# `s` is always there, NULL where no sensitive attribute was named. #}
{% macro target(source, keys, sensitive, entity, solo) %}
target AS NOT MATERIALIZED (
    SELECT
        {{ target_columns(keys, sensitive if sensitive is not none else "NULL", entity, solo) }}
    FROM {{ source }}
)
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
