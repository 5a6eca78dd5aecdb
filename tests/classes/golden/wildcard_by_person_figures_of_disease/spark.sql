/* sqlaudit: figures of disease */
WITH class AS (
  SELECT
    *
  FROM (/* sqlaudit: rows that match */
WITH target AS (
  SELECT
    `zip` AS q1,
    `age` AS q2,
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
    e,
    s,
    COUNT(*) AS row_count
  FROM target
  GROUP BY
    q1,
    q2,
    e,
    s
), coded AS (
  SELECT
    q1,
    q2,
    CASE WHEN q1 IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY q1 NULLS LAST) END AS k1,
    CASE WHEN q2 IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY q2 NULLS LAST) END AS k2,
    CASE WHEN q1 IS NULL THEN '1' ELSE '0' END || CASE WHEN q2 IS NULL THEN '1' ELSE '0' END || '' AS mask,
    e,
    COALESCE(lanes.lane, 3) AS lane,
    row_count
  FROM members
  LEFT JOIN lanes
    ON members.s = lanes.s
), patterns AS (
  SELECT
    MONOTONICALLY_INCREASING_ID() AS id,
    q1,
    q2,
    k1,
    k2,
    mask,
    SUM(row_count) AS row_count
  FROM coded
  GROUP BY
    q1,
    q2,
    k1,
    k2,
    mask
), masks AS (
  SELECT DISTINCT
    CASE WHEN k1 = 0 THEN 1 ELSE 0 END AS z1,
    CASE WHEN k2 = 0 THEN 1 ELSE 0 END AS z2,
    mask
  FROM patterns
), seeking AS (
  SELECT
    patterns.id,
    CASE WHEN masks.z1 = 1 THEN 0 ELSE patterns.k1 END AS k1,
    CASE WHEN masks.z2 = 1 THEN 0 ELSE patterns.k2 END AS k2,
    patterns.mask AS own,
    masks.mask AS other
  FROM patterns
  CROSS JOIN masks
), offered AS (
  SELECT
    own,
    other,
    k1,
    k2,
    e,
    lane,
    SUM(row_count) AS c
  FROM (
    SELECT
      CASE WHEN masks.z1 = 1 THEN 0 ELSE coded.k1 END AS k1,
      CASE WHEN masks.z2 = 1 THEN 0 ELSE coded.k2 END AS k2,
      e,
      lane,
      row_count,
      masks.mask AS own,
      coded.mask AS other
    FROM coded
    CROSS JOIN masks
  ) AS shown
  GROUP BY
    own,
    other,
    k1,
    k2,
    e,
    lane
), met AS (
  SELECT
    seeking.id,
    offered.e,
    offered.lane,
    SUM(offered.c) AS c
  FROM seeking
  JOIN offered
    ON seeking.own = offered.own
    AND seeking.other = offered.other
    AND seeking.k1 = offered.k1
    AND seeking.k2 = offered.k2
  GROUP BY
    seeking.id,
    offered.e,
    offered.lane
), persons AS (
  SELECT
    id,
    COUNT(DISTINCT e) AS size
  FROM met
  GROUP BY
    id
), matched AS (
  SELECT
    id,
    CAST(SUM(c) AS BIGINT) AS n,
    COLLECT_LIST(lane * 1099511627776 + c) AS cell_list
  FROM (
    SELECT
      id,
      lane,
      CAST(COUNT(*) AS BIGINT) AS c
    FROM met
    GROUP BY
      id,
      lane
  ) AS cell
  GROUP BY
    id
)
SELECT
  patterns.id,
  patterns.q1,
  patterns.q2,
  CAST(patterns.row_count AS BIGINT) AS classes,
  matched.n AS n,
  persons.size AS size,
  CAST(patterns.row_count AS BIGINT) AS table_rows,
  matched.cell_list
FROM patterns
JOIN matched
  ON patterns.id = matched.id
JOIN persons
  ON patterns.id = persons.id) AS class
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
), facts AS (
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
)
SELECT
  size,
  CAST(SUM(classes) AS BIGINT) AS classes,
  CAST(SUM(table_rows) AS BIGINT) AS table_rows,
  MIN(size) AS k,
  MIN(distinct_values) AS l,
  MAX(head_2) AS head,
  CAST(COALESCE(SUM(CASE WHEN distinct_values < 2 THEN classes ELSE 0 END), 0) AS BIGINT) AS few_classes,
  CAST(COALESCE(SUM(CASE WHEN distinct_values < 2 THEN table_rows ELSE 0 END), 0) AS BIGINT) AS few_rows,
  CAST(COALESCE(SUM(CASE WHEN distinct_values = 2 THEN classes ELSE 0 END), 0) AS BIGINT) AS few_doubtful
FROM facts
GROUP BY
  size
ORDER BY
  size NULLS LAST
