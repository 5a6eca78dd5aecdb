{# The table as cells: combinations of the values of the quasi-identifiers. Stage "shape": how many values each column has,
   NULL included, and rows. Stage "cells": each cell that has members, by the ranks of its values. Stage "main": what main
   effects say of sample uniques, whose means are products of the columns' marginals; so no cell leaves the database. #}
{% import "classes/_rows.sql" as rows %}
{% set key = rows.key_columns(keys, false) %}
WITH target AS (
    SELECT
        {{ rows.target_columns(keys, none, none, false) }}
    FROM {{ source }}
),
classes AS {{ "MATERIALIZED " if stage == "main" }}(
    SELECT {{ key }}, COUNT(*) AS members
    FROM target
    GROUP BY {{ key }}
){{ "," if stage == "main" }}
{% if stage == "shape" %}
SELECT
    {% for key in keys %}
    COUNT(DISTINCT q{{ loop.index }}) + MAX(CASE WHEN q{{ loop.index }} IS NULL THEN 1 ELSE 0 END) AS values_{{ loop.index }},
    {% endfor %}
    SUM(members) AS total
FROM classes
{% elif stage == "cells" %}
SELECT
    {% for key in keys %}
    DENSE_RANK() OVER (ORDER BY q{{ loop.index }}) - 1 AS k{{ loop.index }},
    {% endfor %}
    members
FROM classes
{% else %}
{% if dialect == "postgres" %}
{# NULLs are equal in windows, and hash joins know no IS NOT DISTINCT FROM there #}
placed AS (
    SELECT
        members,
        {% for key in keys %}LN(CAST(SUM(members) OVER (PARTITION BY q{{ loop.index }}) AS DOUBLE)){{ " + " if not loop.last }}{% endfor %} AS effects
    FROM classes
),
{% else %}
{% for key in keys %}
margin_{{ loop.index }} AS (
    SELECT q{{ loop.index }} AS v, LN(CAST(SUM(members) AS DOUBLE)) AS effect
    FROM classes
    GROUP BY q{{ loop.index }}
),
{% endfor %}
placed AS (
    SELECT members, {% for key in keys %}m{{ loop.index }}.effect{{ " + " if not loop.last }}{% endfor %} AS effects
    FROM classes
    {% for key in keys %}
    JOIN margin_{{ loop.index }} AS m{{ loop.index }} ON classes.q{{ loop.index }} IS NOT DISTINCT FROM m{{ loop.index }}.v
    {% endfor %}
    WHERE members = 1
),
{% endif %}
unseen AS (
    SELECT EXP(effects - {{ keys | length - 1 }} * LN(CAST({{ total }} AS DOUBLE))) * {{ rest }} AS x
    FROM placed
    WHERE members = 1
)
SELECT
    SUM(EXP(-x)) AS tau1,
    SUM(CASE WHEN x < 1e-6 THEN 1 - x / 2 ELSE (1 - EXP(-x)) / x END) AS tau2
FROM unseen
{% endif %}
