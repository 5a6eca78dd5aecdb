/* sqlaudit: attack_positions */
WITH mine AS NOT MATERIALIZED (
    SELECT COALESCE('=' || CAST("s" AS VARCHAR), '') AS cell, ROW_NUMBER() OVER () AS place FROM patients
),
theirs AS NOT MATERIALIZED (
    SELECT COALESCE('=' || CAST("s" AS VARCHAR), '') AS cell, ROW_NUMBER() OVER () AS place FROM patients
),
paired AS MATERIALIZED (
    SELECT mine.cell AS mine, theirs.cell AS theirs, CAST(COUNT(*) AS HUGEINT) AS c
    FROM mine
    JOIN theirs ON mine.place = theirs.place
    GROUP BY mine.cell, theirs.cell
),
my_cells AS MATERIALIZED (SELECT mine AS cell, CAST(SUM(c) AS HUGEINT) AS n FROM paired GROUP BY mine),
their_cells AS MATERIALIZED (SELECT theirs AS cell, CAST(SUM(c) AS HUGEINT) AS n FROM paired GROUP BY theirs),
fitting AS MATERIALIZED (
    SELECT my_cells.cell AS mine, their_cells.cell AS theirs, 'same' AS direction
    FROM my_cells
    JOIN their_cells ON my_cells.cell = their_cells.cell
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
    CAST(COALESCE((SELECT SUM(c) FROM paired), 0) AS HUGEINT) AS positions,
    (SELECT COUNT(*) FROM my_cells) AS my_values,
    (SELECT COUNT(*) FROM their_cells) AS their_values,
    CAST(COALESCE((SELECT SUM(c) FROM agreeing), 0) AS HUGEINT) AS agree,
    CAST(COALESCE((SELECT SUM(c) FROM agreeing WHERE direction = 'finer'), 0) AS HUGEINT) AS finer,
    CAST(COALESCE((SELECT SUM(pairs) FROM possible), 0) AS HUGEINT) AS possible,
    CAST(COALESCE((SELECT SUM(c * (c - 1)) FROM paired), 0) AS HUGEINT) AS alike,
    CAST(COALESCE((SELECT SUM(n * (n - 1)) FROM my_cells), 0) AS HUGEINT) AS my_pairs,
    CAST(COALESCE((SELECT SUM(n * (n - 1)) FROM their_cells), 0) AS HUGEINT) AS their_pairs,
    CAST(COALESCE((SELECT SUM(n * (n - 1) * (n - 2)) FROM my_cells), 0) AS HUGEINT) AS my_paths,
    CAST(COALESCE((SELECT SUM(n * (n - 1) * (n - 2)) FROM their_cells), 0) AS HUGEINT) AS their_paths
