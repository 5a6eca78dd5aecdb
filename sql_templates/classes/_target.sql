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

{# The rows of some of the classes: those whose key has a hash with this remainder, so that no class is parted. Only
   columns whose equal values have one hash may be in `share.places`: not text, which a collation may compare. #}
{% macro shared(share) %}
shared AS NOT MATERIALIZED (
    SELECT *
    FROM target
    WHERE HASH({% for place in share.places %}q{{ place }}{{ ", " if not loop.last }}{% endfor %}) % {{ share.parts }} = {{ share.part }}
)
{%- endmacro %}

{# The lanes of sensitive values, when they have been kept. #}
{% macro known_lanes(kept) %}
lanes AS NOT MATERIALIZED (
    SELECT lane, s, total
    FROM {{ kept }}
)
{%- endmacro %}

{# Every sensitive value with its lane (its rank; NULL is last) and its total: rows, or persons with it. Text is
   ranked by code point on every engine. Where rows are `counted`, how many have NULL, and how many no entity, too; of
   `most` values at most, as they come. #}
{% macro lanes(entity, text, counted=false, most=none) %}
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        {% if counted %}
        null_rows,
        rows_without_entity,
        {% endif %}
        ROW_NUMBER() OVER (ORDER BY s{{ ' COLLATE "C"' if text and dialect == "postgres" }} NULLS LAST) - 1 AS lane
    FROM (
        SELECT
            s,
            {{ "COUNT(DISTINCT e)" if entity is not none else "COUNT(*)" }} AS total
        {% if counted %}
            , SUM(CASE WHEN s IS NULL THEN 1 ELSE 0 END) AS null_rows
            , {{ "SUM(CASE WHEN e IS NULL THEN 1 ELSE 0 END)" if entity is not none else "0" }} AS rows_without_entity
        {% endif %}
        FROM target
        GROUP BY s
        {% if most is not none %}
        LIMIT {{ most }}
        {% endif %}
    ) AS seen
)
{%- endmacro %}

{# The rows with a number for their combination of these columns, which is cheaper to group than the columns; for DuckDB,
   as others rank faster than they look up. Rows that are numbered one by one (`solo`) cannot be looked up. #}
{% macro numbered(key) %}
combinations AS MATERIALIZED (
    SELECT {{ key }}, ROW_NUMBER() OVER () AS combination
    FROM (SELECT DISTINCT {{ key }} FROM target) AS seen
),
numbered_rows AS NOT MATERIALIZED (
    SELECT target.e, target.s, combinations.combination
    FROM target
    JOIN combinations
        ON {% for name in key.split(", ") %}target.{{ name }} IS NOT DISTINCT FROM combinations.{{ name }}{{ " AND " if not loop.last }}{% endfor %}

)
{%- endmacro %}
