/* sqlaudit: failing classes */
WITH class AS (
  SELECT
    *
  FROM (/* sqlaudit: equivalence classes */
WITH target AS (
  SELECT
    `zip` AS q1,
    `age` AS q2,
    CASE
      WHEN `zip` IS NULL OR `age` IS NULL
      THEN MONOTONICALLY_INCREASING_ID()
    END AS solo,
    `person` AS e,
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
      COUNT(DISTINCT e) AS total
    FROM target
    GROUP BY
      s
  ) AS seen
), members AS (
  SELECT
    q1,
    q2,
    solo,
    e,
    s,
    COUNT(*) AS row_count
  FROM target
  GROUP BY
    q1,
    q2,
    solo,
    e,
    s
), cells AS (
  SELECT
    q1,
    q2,
    solo,
    s,
    COUNT(*) AS c,
    SUM(row_count) AS row_count
  FROM members AS member
  GROUP BY
    q1,
    q2,
    solo,
    s
), coded AS (
  SELECT
    cells.q1,
    cells.q2,
    cells.solo,
    COALESCE(lanes.lane, 3) AS lane,
    c,
    row_count
  FROM cells
  LEFT JOIN lanes
    ON cells.s = lanes.s
), persons AS (
  SELECT
    q1,
    q2,
    solo,
    COUNT(DISTINCT e) AS size
  FROM members
  GROUP BY
    q1,
    q2,
    solo
), parts AS (
  SELECT
    q1,
    q2,
    solo,
    lane,
    c,
    row_count,
    CAST(NULL AS BIGINT) AS size
  FROM coded
  UNION ALL
  SELECT
    q1,
    q2,
    solo,
    CAST(NULL AS BIGINT) AS lane,
    CAST(NULL AS BIGINT) AS c,
    0 AS row_count,
    size
  FROM persons
), grouped AS (
  SELECT
    q1,
    q2,
    solo,
    CAST(SUM(c) AS BIGINT) AS n,
    CAST(MAX(size) AS BIGINT) AS size,
    CAST(SUM(row_count) AS BIGINT) AS table_rows,
    COLLECT_LIST(lane * 1099511627776 + c) FILTER(WHERE
      NOT lane IS NULL) AS cell_list
  FROM parts AS part
  GROUP BY
    q1,
    q2,
    solo
)
SELECT
  MONOTONICALLY_INCREASING_ID() AS id,
  q1,
  q2,
  solo,
  1 AS classes,
  n,
  size,
  table_rows,
  cell_list
FROM grouped
WHERE
  n > 0) AS class
), long AS (
  SELECT
    id,
    n,
    size,
    classes,
    table_rows,
    SHIFTRIGHT(cell, 40) AS lane,
    cell & 1099511627775 AS c
  FROM (
    SELECT
      id,
      n,
      size,
      classes,
      table_rows,
      EXPLODE(cell_list) AS cell
    FROM class
  ) AS unfolded
), all_lanes AS (
  SELECT
    lane,
    total
  FROM (/* sqlaudit: sensitive values */
WITH target AS (
  SELECT
    `person` AS e,
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
      COUNT(DISTINCT e) AS total
    FROM target
    GROUP BY
      s
  ) AS seen
)
SELECT
  lane,
  s,
  total
FROM lanes
ORDER BY
  lane NULLS LAST) AS seen
), cells AS (
  SELECT
    long.*,
    all_lanes.total AS t
  FROM long
  JOIN all_lanes
    ON long.lane = all_lanes.lane
), positioned AS (
  SELECT
    cells.*,
    ROW_NUMBER() OVER (PARTITION BY id ORDER BY c DESC, lane NULLS LAST) AS position
  FROM cells
), folded AS (
  SELECT
    long.id,
    long.n,
    MAX(long.size) AS size,
    MAX(long.classes) AS classes,
    MAX(long.table_rows) AS table_rows,
    COALESCE(SUM(CASE WHEN c > 0 THEN 1 ELSE 0 END), 0) AS distinct_values,
    COALESCE(MAX(c), 0) AS largest,
    SUM(CASE WHEN position <= 2 THEN c ELSE 0 END) AS head_2,
    (
      CAST(n AS DECIMAL(38, 0)) * 7 + COALESCE(
        SUM(
          (
            ABS(CAST(c AS DECIMAL(38, 0)) * 7 - CAST(n AS DECIMAL(38, 0)) * t) - CAST(n AS DECIMAL(38, 0)) * t
          )
        ),
        0
      )
    ) AS equal_distance,
    MAX(CAST(long.n AS DECIMAL(38, 0))) AS wide_n
  FROM positioned AS long
  GROUP BY
    long.id,
    long.n
), facts AS (
  SELECT
    folded.*,
    q1,
    q2
  FROM class
  JOIN folded
    ON class.id = folded.id
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
