/* sqlaudit: columns_count_persons */
WITH people AS MATERIALIZED (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2,
    "person" AS e
  FROM "public"."sets_of_people"
)
SELECT
  0 AS set_number,
  SUM(CASE WHEN solo = 1 THEN person_rows WHEN is_first = 1 THEN 1 ELSE 0 END) AS classes,
  MIN(CASE WHEN solo = 1 THEN 1 ELSE members END) AS smallest,
  COUNT(DISTINCT CASE WHEN solo = 1 OR members < 5 THEN e END) AS at_risk,
  COUNT(DISTINCT CASE WHEN solo = 1 OR members = 1 THEN e END) AS alone,
  NULL AS pairs
FROM (
  SELECT
    e,
    solo,
    person_rows,
    COUNT(*) OVER (PARTITION BY k0, k1, k2) AS members,
    CASE
      WHEN ROW_NUMBER() OVER (PARTITION BY k0, k1, k2 ORDER BY e) = 1
      THEN 1
      ELSE 0
    END AS is_first
  FROM (
    SELECT
      e,
      c0 AS k0,
      c1 AS k1,
      c2 AS k2,
      0 AS solo,
      COUNT(*) AS person_rows
    FROM people
    GROUP BY
      c0,
      c1,
      c2,
      e
  ) AS persons
) AS classes
