{# The security estimate of every value of every class: the sum over the rows of the class of the normal density around
   their value. Values become numbers inside the database. Densities further than 38 widths away are 0. `numbered` is a
   FROM item of the classes with their ids; what comes last is `extremes`, a row a class, with the estimates of the first
   `each` values beside it. #}
{% import "classes/_target.sql" as parts with context %}
{% import "classes/_curve.sql" as curves %}
{% macro estimates_relation(numbered, source, sensitive, entity, text, null_lane, lane_count, numbers, curve, width, factor, each=0) %}
{{ parts.target(source, [], sensitive, entity, false) }},
{{ parts.lanes(entity, text) }},
numbers AS (
    {% if numbers is none %}
    SELECT lane, {{ curves.curve(curve, "CAST(s AS DOUBLE)") if curve else "CAST(s AS DOUBLE)" }} AS cf
    {% else %}
    SELECT lane, CAST(CASE lane{% for number in numbers %} WHEN {{ loop.index0 }} THEN {{ number }}{% endfor %} END AS DOUBLE) AS cf
    {% endif %}
    FROM lanes
),
densities AS MATERIALIZED (
    SELECT
        here.lane AS here,
        there.lane AS there,
        CASE
            WHEN ABS(here.cf - there.cf) > CAST({{ 38 * width }} AS DOUBLE) THEN 0.0
            ELSE EXP(-0.5 * ((here.cf - there.cf) / CAST({{ width }} AS DOUBLE)) * ((here.cf - there.cf) / CAST({{ width }} AS DOUBLE)))
        END AS density
    FROM numbers AS here
    CROSS JOIN numbers AS there
),
{% if form == "packed" %}
valued AS MATERIALIZED (
    SELECT id, classes, table_rows, lane, c
    FROM (
        SELECT
            id, classes, table_rows,
            UNNEST([{% for lane in range(lane_count) %}{{ lane }}{{ ", " if not loop.last }}{% endfor %}]) AS lane,
            UNNEST([{% for lane in range(lane_count) %}c{{ lane }}{{ ", " if not loop.last }}{% endfor %}]) AS c
        FROM {{ numbered }} AS class
    ) AS unfolded
    WHERE c > 0
),
{% else %}
valued AS MATERIALIZED (
    SELECT id, classes, table_rows, cell >> 40 AS lane, cell & {{ 2 ** 40 - 1 }} AS c
    FROM (
        SELECT id, classes, table_rows, UNNEST(cell_list) AS cell
        FROM {{ numbered }} AS class
    ) AS unfolded
),
{% endif %}
estimates AS (
    SELECT
        here.id,
        {{ "here.lane," if each }}
        MAX(here.classes) AS classes,
        MAX(here.table_rows) AS table_rows,
        CAST({{ factor }} AS DOUBLE) * SUM(there.c * densities.density) AS psi
    FROM valued AS here
    JOIN valued AS there ON here.id = there.id
    JOIN densities ON here.lane = densities.here AND there.lane = densities.there
    GROUP BY here.id, here.lane
),
extremes AS (
    SELECT id, MAX(classes) AS classes, MAX(table_rows) AS table_rows, MIN(psi) AS lowest, MAX(psi) AS highest
    {% for lane in range(each) %}
        , MAX(CASE WHEN lane = {{ lane }} THEN psi END) AS psi_of_{{ lane }}
    {% endfor %}
    FROM estimates
    GROUP BY id
)
{% endmacro %}
