{# The same column as counts of pairs of cell numbers, for shuffling: `kind` 'paired' with how many positions hold both
   cells, or 'fits' for cells that fit each other. Only for short tables; no cell leaves the database. #}
{% import "release/attacks/_attack_fits.sql" as parts with context %}
{% macro placed(source, position) %}{{ position if position else "ROW_NUMBER() OVER ()" }} AS place FROM {{ source }}{% endmacro %}
WITH mine AS NOT MATERIALIZED (
    SELECT {{ parts.text_of(match.mine, match.form, match.null) }} AS cell, {{ placed(source, position[0]) }}
),
theirs AS NOT MATERIALIZED (
    SELECT {{ parts.text_of(match.theirs, match.other_form, match.other_null) }} AS cell, {{ placed(other, position[1]) }}
),
paired AS MATERIALIZED (
    SELECT mine.cell AS mine, theirs.cell AS theirs, COUNT(*) AS c
    FROM mine
    JOIN theirs ON mine.place = theirs.place
    GROUP BY mine.cell, theirs.cell
),
my_cells AS MATERIALIZED (
    SELECT cell, ROW_NUMBER() OVER (ORDER BY cell{{ ' COLLATE "C"' if dialect == "postgres" }}) - 1 AS code
    FROM (SELECT DISTINCT mine AS cell FROM paired) AS seen
),
their_cells AS MATERIALIZED (
    SELECT cell, ROW_NUMBER() OVER (ORDER BY cell{{ ' COLLATE "C"' if dialect == "postgres" }}) - 1 AS code
    FROM (SELECT DISTINCT theirs AS cell FROM paired) AS seen
),
fitting AS NOT MATERIALIZED (
    SELECT my_cells.cell AS mine, their_cells.cell AS theirs
    FROM my_cells
    JOIN their_cells ON my_cells.cell = their_cells.cell
{% if match.listed %}
    UNION
    SELECT UNNEST(CAST({{ match.listed[0] }} AS VARCHAR[])) AS mine, UNNEST(CAST({{ match.listed[1] }} AS VARCHAR[])) AS theirs
{% endif %}
)
SELECT 'paired' AS kind, my_cells.code AS mine, their_cells.code AS theirs, c
FROM paired
JOIN my_cells ON paired.mine = my_cells.cell
JOIN their_cells ON paired.theirs = their_cells.cell
UNION ALL
SELECT 'fits' AS kind, my_cells.code AS mine, their_cells.code AS theirs, 0 AS c
FROM fitting
JOIN my_cells ON fitting.mine = my_cells.cell
JOIN their_cells ON fitting.theirs = their_cells.cell
