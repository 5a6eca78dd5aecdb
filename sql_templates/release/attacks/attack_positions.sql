{# One column of two releases, paired by the position of the rows: how many positions agree (equal cells, or one stands
   for the other), at how many the other release is finer, and what the counts of both columns let chance do.
   Pairs of rows that are alike in a column: Σ n(n-1)/2; paths of two such pairs: Σ n(n-1)(n-2)/2. #}
{% import "release/attacks/_attack_fits.sql" as parts with context %}
{% macro placed(source, position) %}{{ position if position else "ROW_NUMBER() OVER ()" }} AS place FROM {{ source }}{% endmacro %}
{% macro total(what, source) %}CAST(COALESCE((SELECT SUM({{ what }}) FROM {{ source }}), 0) AS {{ wide }}){% endmacro %}
WITH mine AS NOT MATERIALIZED (
    SELECT {{ parts.text_of(match.mine, match.form, match.null) }} AS cell, {{ placed(source, position[0]) }}
),
theirs AS NOT MATERIALIZED (
    SELECT {{ parts.text_of(match.theirs, match.other_form, match.other_null) }} AS cell, {{ placed(other, position[1]) }}
),
paired AS MATERIALIZED (
    SELECT mine.cell AS mine, theirs.cell AS theirs, CAST(COUNT(*) AS {{ wide }}) AS c
    FROM mine
    JOIN theirs ON mine.place = theirs.place
    GROUP BY mine.cell, theirs.cell
),
my_cells AS MATERIALIZED (SELECT mine AS cell, CAST(SUM(c) AS {{ wide }}) AS n FROM paired GROUP BY mine),
their_cells AS MATERIALIZED (SELECT theirs AS cell, CAST(SUM(c) AS {{ wide }}) AS n FROM paired GROUP BY theirs),
fitting AS MATERIALIZED (
    SELECT my_cells.cell AS mine, their_cells.cell AS theirs, 'same' AS direction
    FROM my_cells
    JOIN their_cells ON my_cells.cell = their_cells.cell
{% if match.listed %}
    UNION ALL
    SELECT
        UNNEST(CAST({{ match.listed[0] }} AS VARCHAR[])) AS mine,
        UNNEST(CAST({{ match.listed[1] }} AS VARCHAR[])) AS theirs,
        UNNEST(CAST({{ match.listed[2] }} AS VARCHAR[])) AS direction
{% endif %}
),
agreeing AS MATERIALIZED (
    SELECT c, direction
    FROM paired
    JOIN fitting ON paired.mine = fitting.mine AND paired.theirs = fitting.theirs
),
possible AS NOT MATERIALIZED (
    SELECT my_cells.n * their_cells.n AS pairs
    FROM fitting
    JOIN my_cells ON fitting.mine = my_cells.cell
    JOIN their_cells ON fitting.theirs = their_cells.cell
)
SELECT
    {{ total("c", "paired") }} AS positions,
    (SELECT COUNT(*) FROM my_cells) AS my_values,
    (SELECT COUNT(*) FROM their_cells) AS their_values,
    {{ total("c", "agreeing") }} AS agree,
    {{ total("c", "agreeing WHERE direction = 'finer'") }} AS finer,
    {{ total("pairs", "possible") }} AS possible,
    {{ total("c * (c - 1)", "paired") }} AS alike,
    {{ total("n * (n - 1)", "my_cells") }} AS my_pairs,
    {{ total("n * (n - 1)", "their_cells") }} AS their_pairs,
    {{ total("n * (n - 1) * (n - 2)", "my_cells") }} AS my_paths,
    {{ total("n * (n - 1) * (n - 2)", "their_cells") }} AS their_paths
