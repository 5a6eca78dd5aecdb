/* sqlaudit: histogram of facts */
WITH facts AS (
  SELECT
    classes,
    table_rows,
    size,
    n,
    (
      CASE WHEN c0 > 0 THEN 1 ELSE 0 END + CASE WHEN c1 > 0 THEN 1 ELSE 0 END + CASE WHEN c2 > 0 THEN 1 ELSE 0 END + CASE WHEN c3 > 0 THEN 1 ELSE 0 END
    ) AS distinct_values,
    GREATEST(c0, c1, c2, c3) AS largest
  FROM (/* sqlaudit: equivalence classes */
WITH target AS (
  SELECT
    `zip` AS q1,
    `age` AS q2,
    `disease` AS s
  FROM patients
), lanes AS (
  SELECT
    s,
    total,
    ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
  FROM (
    SELECT
      s,
      COUNT(*) AS total
    FROM target
    GROUP BY
      s
  ) AS seen
), weights AS (
  SELECT
    s,
    CAST(CASE lane WHEN 0 THEN 1 WHEN 1 THEN 4 WHEN 2 THEN 16 WHEN 3 THEN 64 ELSE 0 END AS BIGINT) AS w0
  FROM lanes
  WHERE
    NOT s IS NULL
), packed AS (
  SELECT
    q1,
    q2,
    COUNT(*) AS n,
    COUNT(*) AS size,
    COUNT(*) AS table_rows,
    SUM(COALESCE(w0, 64)) AS w0
  FROM target AS member
  LEFT JOIN weights
    ON member.s = weights.s
  GROUP BY
    q1,
    q2
), vectors AS (
  SELECT
    n,
    size,
    COUNT(*) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows,
    w0
  FROM packed
  GROUP BY
    n,
    size,
    w0
)
SELECT
  classes,
  n,
  size,
  table_rows,
  CAST((
    w0
  ) & 3 AS BIGINT) AS c0,
  CAST((
    SHIFTRIGHT(w0, 2)
  ) & 3 AS BIGINT) AS c1,
  CAST((
    SHIFTRIGHT(w0, 4)
  ) & 3 AS BIGINT) AS c2,
  CAST((
    SHIFTRIGHT(w0, 6)
  ) & 3 AS BIGINT) AS c3
FROM vectors) AS class
)
SELECT
  distinct_values,
  largest,
  CAST(SUM(classes) AS BIGINT) AS classes,
  CAST(SUM(table_rows) AS BIGINT) AS table_rows
FROM facts
WHERE
  size > 1
GROUP BY
  distinct_values,
  largest
