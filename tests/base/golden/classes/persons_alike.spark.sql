/* sqlaudit: persons_alike */
WITH target AS (
  SELECT
    "clinic" AS q1,
    "person" AS e,
    "disease" AS s
  FROM "hospital"."main"."visits"
), numbered AS (
  SELECT
    e,
    DENSE_RANK() OVER (ORDER BY q1 NULLS LAST) AS combination
  FROM (
    SELECT DISTINCT
      q1,
      e
    FROM target
  ) AS combinations
), lists AS (
  SELECT
    e,
    SORT_ARRAY(COLLECT_LIST(combination)) AS known
  FROM numbered
  GROUP BY
    e
), alike AS (
  SELECT
    e,
    DENSE_RANK() OVER (ORDER BY known NULLS LAST) AS known
  FROM lists
)
SELECT
  alike.known,
  target.e,
  target.s
FROM target
JOIN alike
  ON target.e = alike.e
