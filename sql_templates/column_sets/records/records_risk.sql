{# Individual risk (Benedetti and Franconi) of the rows of each class: f rows in the sample stand for `population` people,
   the sum of their weights; p = f / population. One row of totals; no class leaves the database. With `most`, the wanted
   global risk, also the threshold of risk that keeps it. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
{% from "population/_risk.sql" import risk, shares %}
{% from "population/_threshold.sql" import chosen, levels %}
{% set light = "CASE WHEN population < f THEN 1 ELSE 0 END" %}
{% macro alike(a, b) -%}
{% for name in names %}({{ a }}.{{ name }} = {{ b }}.{{ name }}{% if name in nullable %} OR {{ a }}.{{ name }} IS NULL OR {{ b }}.{{ name }} IS NULL{% endif %}){{ " AND " if not loop.last }}{% endfor %}
{%- endmacro %}
WITH people AS MATERIALIZED (
    SELECT {% for column in columns %}{{ column }} AS c{{ loop.index0 }}, {% endfor %}CAST({{ weight if weight is not none else 1 }} AS DECIMAL(18, 6)) AS weight
    FROM {{ source }}
),
patterns AS MATERIALIZED (
    SELECT {{ names | join(", ") }}, COUNT(*) AS members, SUM(weight) AS weights
    FROM people
    {% if nulls == "distinct" and nullable %}
    WHERE NOT ({{ parts.solo(nullable, false) }})
    {% endif %}
    GROUP BY {{ names | join(", ") }}
    {% if nulls == "distinct" and nullable %}
    UNION ALL
    SELECT {{ names | join(", ") }}, 1 AS members, weight AS weights
    FROM people
    WHERE {{ parts.solo(nullable, false) }}
    {% endif %}
),
{% if nulls == "wildcard" and nullable %}
classes AS (
    SELECT
        a.members AS row_count,
        (SELECT SUM(b.members) FROM patterns AS b WHERE {{ alike("a", "b") }}) AS f,
        (SELECT SUM(b.weights) FROM patterns AS b WHERE {{ alike("a", "b") }}) AS population
    FROM patterns AS a
),
{% else %}
classes AS (
    SELECT members AS row_count, members AS f, weights AS population
    FROM patterns
),
{% endif %}
shares AS (
    SELECT row_count, f, population, {{ shares("f", "population") }}
    FROM classes
),
risks AS (
    SELECT
        row_count,
        f,
        population,
        {{ risk("f", "population") }} AS risk
    FROM shares
){% if most is not none %},
{{ levels("risks", {"row_count": "row_count", "too_light": light}, false) }}{% endif %}

SELECT
    COALESCE(SUM(row_count), 0) AS row_total,
    SUM({{ light if most is none else "too_light" }}) AS too_light,
    SUM(row_count * risk) AS expected,
    MAX(risk) AS highest,
{% for threshold in thresholds %}
    SUM(CASE WHEN risk > {{ threshold }} THEN row_count ELSE 0 END) AS above_{{ loop.index0 }}{{ "," if not loop.last or most is not none }}
{% endfor %}
{% if most is not none %}
    {{ chosen(most, false) }}
{% endif %}
FROM {{ "risks" if most is none else "bounded" }}
