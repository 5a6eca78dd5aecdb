/* sqlaudit: figures of disease */
WITH facts AS MATERIALIZED (
  SELECT
    classes,
    table_rows,
    size,
    n,
    (
      CASE WHEN c0 > 0 THEN 1 ELSE 0 END + CASE WHEN c1 > 0 THEN 1 ELSE 0 END + CASE WHEN c2 > 0 THEN 1 ELSE 0 END + CASE WHEN c3 > 0 THEN 1 ELSE 0 END
    ) AS distinct_values,
    GREATEST(c0, c1, c2, c3) AS largest,
    (
      SELECT
        SUM(h.x)
      FROM (
        SELECT
          u.x
        FROM UNNEST(ARRAY[c0, c1, c2, c3]) AS u(x)
        ORDER BY
          u.x DESC NULLS LAST
        LIMIT 2
      ) AS h
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
WITH target AS NOT MATERIALIZED (
  SELECT
    "zip" AS q1,
    "age" AS q2,
    "person" AS e,
    "disease" AS s
  FROM patients
), lanes AS MATERIALIZED (
  SELECT
    s,
    total,
    ROW_NUMBER() OVER (ORDER BY s COLLATE "C") - 1 AS lane
  FROM (
    SELECT
      s,
      COUNT(DISTINCT e) AS total
    FROM target
    GROUP BY
      s
  ) AS seen
), weights AS MATERIALIZED (
  SELECT
    s,
    CAST(CASE lane WHEN 0 THEN 1 WHEN 1 THEN 1073741824 ELSE 0 END AS INT) AS w0,
    CAST(CASE lane WHEN 2 THEN 1 WHEN 3 THEN 1073741824 ELSE 0 END AS INT) AS w1
  FROM lanes
  WHERE
    NOT s IS NULL
), members AS NOT MATERIALIZED (
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
), packed AS NOT MATERIALIZED (
  SELECT
    q1,
    q2,
    COUNT(*) AS n,
    COUNT(DISTINCT e) AS size,
    CAST(SUM(row_count) AS BIGINT) AS table_rows,
    SUM(COALESCE(w0, 0)) AS w0,
    SUM(COALESCE(w1, 1073741824)) AS w1
  FROM members AS member
  LEFT JOIN weights
    ON member.s = weights.s
  GROUP BY
    q1,
    q2
), vectors AS NOT MATERIALIZED (
  SELECT
    n,
    size,
    COUNT(*) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows,
    w0,
    w1
  FROM packed
  GROUP BY
    n,
    size,
    table_rows,
    w0,
    w1
)
SELECT
  classes,
  n,
  size,
  table_rows,
  CAST((
    w0
  ) & 1073741823 AS BIGINT) AS c0,
  CAST((
    w0 >> 30
  ) & 1073741823 AS BIGINT) AS c1,
  CAST((
    w1
  ) & 1073741823 AS BIGINT) AS c2,
  CAST((
    w1 >> 30
  ) & 1073741823 AS BIGINT) AS c3
FROM vectors) AS class
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
  size
