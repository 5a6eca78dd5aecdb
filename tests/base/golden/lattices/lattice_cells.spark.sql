/* sqlaudit: lattice_cells */
WITH cells AS (
  SELECT
    q0,
    COUNT(*) AS c
  FROM (
    SELECT
      zip AS q0,
      1 AS one
    FROM patients
  ) AS target
  GROUP BY
    q0
), numbered_0 AS (
  SELECT
    v,
    ROW_NUMBER() OVER (ORDER BY v NULLS LAST) - 1 AS number
  FROM (
    SELECT
      q0 AS v
    FROM cells
    GROUP BY
      q0
  ) AS seen
)
SELECT
  COALESCE(numbered_0.number, (
    SELECT
      MAX(number)
    FROM numbered_0
  )) AS i0,
  c
FROM cells
LEFT JOIN numbered_0
  ON cells.q0 = numbered_0.v
