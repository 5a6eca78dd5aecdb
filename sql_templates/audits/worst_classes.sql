{# How often each sensitive value occurs in a few classes: the largest of those that a condition names; without one, of
   those with two members or more the ones with the fewest different values, and the most frequent of these most frequent.
   Classes with the same counts are one row, unless `key_names` keeps them apart. A list of cells holds the lane in the
   bits from 40 on and the count below. #}
{% import "classes/_facts_relation.sql" as relation with context %}
{% macro first_come() %}
{{ "size DESC, " if condition }}distinct_values, CAST(largest AS DOUBLE) / n DESC, size DESC, n DESC, CAST(table_rows AS DOUBLE) / classes DESC
{%- endmacro %}
{% macro by_key() %}
{% for column, text in zip(key_names, collated) %}, {{ column }}{{ ' COLLATE "C"' if text and dialect == "postgres" }} NULLS LAST{% endfor %}
{%- endmacro %}
{% set key = key_names | join(", ") %}
{% set listed = key ~ ", " if key else "" %}
{% set by_measure = ("size DESC, " if condition else "") ~ "distinct_values, share DESC, size DESC, n DESC, people DESC" %}
{% set lanes = [] %}
{% for lane in range(lane_count) %}{% set _ = lanes.append("c" ~ lane) %}{% endfor %}
{% set kept = lanes | join(", ") if form == "packed" else "cell_list" %}
WITH {{ relation.facts_relation(classes, totals, facts, form, listed ~ kept if form == "packed" else none, form != "packed") }}
{%- if form == "packed" %}

SELECT {{ listed }}size, n, classes, table_rows, {{ kept }}
FROM facts
WHERE {{ condition or "size >= 2" }}
ORDER BY {{ first_come() }}{% for lane in lanes %}, NULLIF({{ lane }}, 0) NULLS LAST{% endfor %}{{ by_key() }}
LIMIT {{ limit }}
{%- else %},
measured AS NOT MATERIALIZED (
    SELECT
        id, size, n, classes, table_rows, distinct_values,
        CAST(largest AS DOUBLE) / n AS share,
        CAST(table_rows AS DOUBLE) / classes AS people
    FROM facts
    WHERE {{ condition or "size >= 2" }}
),
places AS MATERIALIZED (
    SELECT distinct_values, share, size, n, people, ROW_NUMBER() OVER (ORDER BY {{ by_measure }}) AS place
    FROM (
        SELECT DISTINCT distinct_values, share, size, n, people
        FROM measured
        ORDER BY {{ by_measure }}
        LIMIT {{ limit }}
    ) AS first_ones
),
ranked AS NOT MATERIALIZED (
    SELECT measured.*, places.place
    FROM measured
    JOIN places
        ON measured.distinct_values = places.distinct_values
        AND measured.share = places.share
        AND measured.size = places.size
        AND measured.n = places.n
        AND measured.people = places.people
),
{% if kept_cells is defined and kept_cells %}
unfolded AS NOT MATERIALIZED (
    SELECT ranked.id, place, size, n, classes, table_rows, lane * {{ 2 ** 40 }} + c AS cell
    FROM {{ kept_cells }} AS kept
    JOIN ranked ON kept.id = ranked.id
),
{% else %}
listed AS NOT MATERIALIZED (
    SELECT ranked.id, place, ranked.size, ranked.n, ranked.classes, ranked.table_rows, {{ listed }}cell_list
    FROM class
    JOIN ranked ON class.id = ranked.id
),
unfolded AS NOT MATERIALIZED (
    SELECT id, place, size, n, classes, table_rows, {{ listed }}UNNEST(cell_list) AS cell
    FROM listed
),
{% endif %}
written AS NOT MATERIALIZED (
    SELECT id, place, size, n, classes, table_rows, {{ listed }}ARRAY_AGG(cell ORDER BY cell) AS vector
    FROM unfolded
    GROUP BY id, place, size, n, classes, table_rows{{ ", " ~ key if key }}
)
{% if key %}
SELECT {{ listed }}size, n, classes, table_rows, vector
FROM written
ORDER BY place, vector{{ by_key() }}
{% else %}
SELECT
    size, n, CAST(SUM(classes) AS BIGINT) AS classes, CAST(SUM(table_rows) AS BIGINT) AS table_rows, vector
FROM written
GROUP BY place, size, n, vector
ORDER BY place, vector
{% endif %}
LIMIT {{ limit }}
{%- endif %}
