/* sqlaudit: remedy_release */
WITH given AS (
  SELECT
    ("age" % 10) AS q1,
    "age" AS v1
  FROM patients
), patterns AS (
  SELECT
    q1 AS q1,
    CAST(COUNT(*) AS BIGINT) AS size,
    CAST(ROW_NUMBER() OVER (ORDER BY q1 NULLS LAST) AS BIGINT) AS class_number
  FROM given
  GROUP BY
    q1
), coded AS (
  SELECT
    class_number,
    size,
    CAST(CASE WHEN q1 IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY q1 NULLS LAST) END AS BIGINT) AS c1
  FROM patterns
), expected AS (
  SELECT
    *
  FROM (VALUES (1, 2, 1)) AS listed(class_number, size, c1)
), pieces AS (
  SELECT
    *
  FROM (VALUES (1, 1, 2, 1, 0)) AS listed(class_number, first_copy, last_copy, group_number, l1)
), unchanged AS (
  SELECT
    CASE WHEN COUNT(*) = 1 AND COUNT(expected.class_number) = 1 THEN 1 ELSE 0 END AS holds
  FROM coded
  LEFT JOIN expected
    ON coded.class_number = expected.class_number
    AND coded.size = expected.size
    AND coded.c1 = expected.c1
), numbered AS (
  SELECT
    given.*,
    patterns.class_number
  FROM given
  JOIN patterns
    ON given.q1 IS NOT DISTINCT FROM patterns.q1
), rewritten AS (
  SELECT
    numbered.*,
    pieces.group_number,
    pieces.l1
  FROM numbered
  JOIN pieces
    ON numbered.class_number = pieces.class_number
  WHERE
    pieces.group_number > 0
), labelled AS (
  SELECT
    rewritten.*,
    rewritten.q1 AS r1
  FROM rewritten
), released AS (
  SELECT
    labelled.r1 AS `age % 10`
  FROM labelled
  CROSS JOIN unchanged
  WHERE
    unchanged.holds = 1
)
SELECT
  *
FROM released
ORDER BY
  CAST(`age % 10` AS STRING) NULLS LAST
