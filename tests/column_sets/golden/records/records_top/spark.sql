/* sqlaudit: records_top */
WITH people AS (
  SELECT
    MONOTONICALLY_INCREASING_ID() AS number,
    listed.*
  FROM (
    SELECT
      `person` AS v0,
      `zip` AS c0,
      `age` AS c1,
      `sex` AS c2
    FROM `sqlaudit_view`
  ) AS listed
), candidates_1 AS (
  SELECT
    MIN(number) AS record,
    CAST(1 AS BIGINT) AS w0,
    1 AS size
  FROM people
  WHERE
    NOT (
      c0 IS NULL
    )
  GROUP BY
    c0
  HAVING
    COUNT(*) = 1
  UNION ALL
  SELECT
    MIN(number) AS record,
    CAST(2 AS BIGINT) AS w0,
    1 AS size
  FROM people
  WHERE
    NOT (
      c1 IS NULL
    )
  GROUP BY
    c1
  HAVING
    COUNT(*) = 1
  UNION ALL
  SELECT
    MIN(number) AS record,
    CAST(4 AS BIGINT) AS w0,
    1 AS size
  FROM people
  GROUP BY
    c2
  HAVING
    COUNT(*) = 1
), level_1 AS (
  SELECT
    *
  FROM candidates_1
), found_1 AS (
  SELECT
    *
  FROM level_1
), candidates_2 AS (
  SELECT
    MIN(number) AS record,
    CAST(3 AS BIGINT) AS w0,
    2 AS size
  FROM people
  WHERE
    NOT (
      c0 IS NULL OR c1 IS NULL
    )
  GROUP BY
    c0,
    c1
  HAVING
    COUNT(*) = 1
  UNION ALL
  SELECT
    MIN(number) AS record,
    CAST(5 AS BIGINT) AS w0,
    2 AS size
  FROM people
  WHERE
    NOT (
      c0 IS NULL
    )
  GROUP BY
    c0,
    c2
  HAVING
    COUNT(*) = 1
  UNION ALL
  SELECT
    MIN(number) AS record,
    CAST(6 AS BIGINT) AS w0,
    2 AS size
  FROM people
  WHERE
    NOT (
      c1 IS NULL
    )
  GROUP BY
    c1,
    c2
  HAVING
    COUNT(*) = 1
), level_2 AS (
  SELECT
    candidate.*
  FROM candidates_2 AS candidate
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM found_1 AS smaller
      WHERE
        smaller.record = candidate.record AND smaller.w0 & candidate.w0 = smaller.w0
    )
), found_2 AS (
  SELECT
    *
  FROM level_2
  UNION ALL
  SELECT
    *
  FROM found_1
), found AS (
  SELECT
    *
  FROM found_2
), by_record AS (
  SELECT
    record,
    SUM(CASE WHEN size = 1 THEN 1 ELSE 0 END) AS n1,
    SUM(CASE WHEN size = 2 THEN 1 ELSE 0 END) AS n2
  FROM found
  GROUP BY
    record
)
SELECT
  v0,
  n1,
  n2
FROM by_record
JOIN people AS people
  ON by_record.record = people.number
ORDER BY
  n1 * 2 + n2 * 1 DESC,
  n1 DESC,
  n2 DESC,
  v0 NULLS LAST
LIMIT 3
