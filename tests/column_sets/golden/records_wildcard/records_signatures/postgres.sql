/* sqlaudit: records_signatures */
WITH people AS MATERIALIZED (
  SELECT
    ROW_NUMBER() OVER () AS number,
    listed.*
  FROM (
    SELECT
      "zip" AS c0,
      "age" AS c1,
      "sex" AS c2
    FROM "public"."sets_of_people"
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
), level_1 AS MATERIALIZED (
  SELECT
    *
  FROM candidates_1
), found_1 AS MATERIALIZED (
  SELECT
    *
  FROM level_1
), found AS (
  SELECT
    *
  FROM found_1
), by_record AS (
  SELECT
    record,
    SUM(CASE WHEN size = 1 THEN 1 ELSE 0 END) AS n1
  FROM found
  GROUP BY
    record
)
SELECT
  n1,
  COUNT(*) AS records
FROM by_record
GROUP BY
  n1
