/* sqlaudit: attack_position_codes */
WITH mine AS NOT MATERIALIZED (
  SELECT
    COALESCE('=' || CAST("s" AS TEXT), '') AS cell,
    "row" AS place
  FROM patients
), theirs AS NOT MATERIALIZED (
  SELECT
    COALESCE('=' || CAST("s" AS TEXT), '') AS cell,
    "row" AS place
  FROM patients
), paired AS MATERIALIZED (
  SELECT
    mine.cell AS mine,
    theirs.cell AS theirs,
    COUNT(*) AS c
  FROM mine
  JOIN theirs
    ON mine.place = theirs.place
  GROUP BY
    mine.cell,
    theirs.cell
), my_cells AS MATERIALIZED (
  SELECT
    cell,
    ROW_NUMBER() OVER (ORDER BY cell COLLATE "C") - 1 AS code
  FROM (
    SELECT DISTINCT
      mine AS cell
    FROM paired
  ) AS seen
), their_cells AS MATERIALIZED (
  SELECT
    cell,
    ROW_NUMBER() OVER (ORDER BY cell COLLATE "C") - 1 AS code
  FROM (
    SELECT DISTINCT
      theirs AS cell
    FROM paired
  ) AS seen
), fitting AS NOT MATERIALIZED (
  SELECT
    my_cells.cell AS mine,
    their_cells.cell AS theirs
  FROM my_cells
  JOIN their_cells
    ON my_cells.cell = their_cells.cell
)
SELECT
  'paired' AS kind,
  my_cells.code AS mine,
  their_cells.code AS theirs,
  c
FROM paired
JOIN my_cells
  ON paired.mine = my_cells.cell
JOIN their_cells
  ON paired.theirs = their_cells.cell
UNION ALL
SELECT
  'fits' AS kind,
  my_cells.code AS mine,
  their_cells.code AS theirs,
  0 AS c
FROM fitting
JOIN my_cells
  ON fitting.mine = my_cells.cell
JOIN their_cells
  ON fitting.theirs = their_cells.cell
