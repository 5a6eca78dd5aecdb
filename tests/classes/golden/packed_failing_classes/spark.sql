/* sqlaudit: failing classes */
WITH facts AS (
  SELECT
    q1,
    q2,
    classes,
    table_rows,
    size,
    n,
    (
      CASE WHEN c0 > 0 THEN 1 ELSE 0 END + CASE WHEN c1 > 0 THEN 1 ELSE 0 END + CASE WHEN c2 > 0 THEN 1 ELSE 0 END + CASE WHEN c3 > 0 THEN 1 ELSE 0 END
    ) AS distinct_values,
    GREATEST(c0, c1, c2, c3) AS largest,
    AGGREGATE(
      SLICE(SORT_ARRAY(ARRAY(c0, c1, c2, c3), FALSE), 1, 2),
      CAST(0 AS BIGINT),
      (taken, x) -> taken + x
    ) AS head_2,
    (
      CAST(n AS DECIMAL(38, 0)) * 7 + (
        (
          ABS(CAST(c0 AS DECIMAL(38, 0)) * 7 - CAST(n AS DECIMAL(38, 0)) * 2) - CAST(n AS DECIMAL(38, 0)) * 2
        ) + (
          ABS(CAST(c1 AS DECIMAL(38, 0)) * 7 - CAST(n AS DECIMAL(38, 0)) * 1) - CAST(n AS DECIMAL(38, 0)) * 1
        ) + (
          ABS(CAST(c2 AS DECIMAL(38, 0)) * 7 - CAST(n AS DECIMAL(38, 0)) * 3) - CAST(n AS DECIMAL(38, 0)) * 3
        ) + (
          ABS(CAST(c3 AS DECIMAL(38, 0)) * 7 - CAST(n AS DECIMAL(38, 0)) * 1) - CAST(n AS DECIMAL(38, 0)) * 1
        )
      )
    ) AS equal_distance,
    CAST(n AS DECIMAL(38, 0)) AS wide_n
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
)
SELECT
  q1,
  q2,
  1 AS classes,
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
FROM packed) AS class
), short AS (
  SELECT
    q1,
    q2,
    size AS class_size,
    classes AS classes,
    table_rows AS table_rows,
    n,
    CASE WHEN size < 4 THEN 1 ELSE 0 END AS fails_0
  FROM facts
)
SELECT
  q1,
  q2,
  class_size,
  classes,
  table_rows,
  fails_0,
  CAST(SUM(classes) OVER () AS BIGINT) AS failing_total
FROM short
WHERE
  fails_0 = 1
ORDER BY
  class_size NULLS LAST,
  n NULLS LAST,
  q1 NULLS LAST,
  q2 NULLS LAST,
  table_rows NULLS LAST
LIMIT 3
