/* sqlaudit: columns_count_sets */
WITH people AS MATERIALIZED (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2
  FROM "public"."sets_of_people"
)
SELECT
  0 AS set_number,
  COUNT(*) AS classes,
  MIN(members) AS smallest,
  SUM(CASE WHEN members < 3 THEN members ELSE 0 END) AS at_risk,
  SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
  SUM(CAST(members AS DECIMAL(38, 0)) * (
    members - 1
  )) AS pairs
FROM (
  SELECT
    COUNT(*) AS members
  FROM people
  GROUP BY
    c0,
    c1,
    c2
) AS classes
