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
  SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
  SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
  SUM(CAST(members AS DECIMAL(38, 0)) * (
    members - 1
  )) AS pairs
FROM (
  SELECT
    COUNT(*) AS members
  FROM people
  HAVING
    COUNT(*) > 0
) AS classes
;
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
  SUM(CASE WHEN solo = 1 THEN members ELSE 1 END) AS classes,
  MIN(CASE WHEN solo = 1 THEN 1 ELSE members END) AS smallest,
  SUM(CASE WHEN solo = 1 OR members < 2 THEN members ELSE 0 END) AS at_risk,
  SUM(CASE WHEN solo = 1 OR members = 1 THEN members ELSE 0 END) AS alone,
  SUM(
    CASE
      WHEN solo = 1
      THEN 0
      ELSE CAST(members AS DECIMAL(38, 0)) * (
        members - 1
      )
    END
  ) AS pairs
FROM (
  SELECT
    MAX(CASE WHEN c0 IS NULL THEN 1 ELSE 0 END) AS solo,
    COUNT(*) AS members
  FROM people
  GROUP BY
    c0
) AS classes
UNION ALL
SELECT
  1 AS set_number,
  SUM(CASE WHEN solo = 1 THEN members ELSE 1 END) AS classes,
  MIN(CASE WHEN solo = 1 THEN 1 ELSE members END) AS smallest,
  SUM(CASE WHEN solo = 1 OR members < 2 THEN members ELSE 0 END) AS at_risk,
  SUM(CASE WHEN solo = 1 OR members = 1 THEN members ELSE 0 END) AS alone,
  SUM(
    CASE
      WHEN solo = 1
      THEN 0
      ELSE CAST(members AS DECIMAL(38, 0)) * (
        members - 1
      )
    END
  ) AS pairs
FROM (
  SELECT
    MAX(CASE WHEN c1 IS NULL THEN 1 ELSE 0 END) AS solo,
    COUNT(*) AS members
  FROM people
  GROUP BY
    c1
) AS classes
UNION ALL
SELECT
  2 AS set_number,
  COUNT(*) AS classes,
  MIN(members) AS smallest,
  SUM(CASE WHEN members < 2 THEN members ELSE 0 END) AS at_risk,
  SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
  SUM(CAST(members AS DECIMAL(38, 0)) * (
    members - 1
  )) AS pairs
FROM (
  SELECT
    COUNT(*) AS members
  FROM people
  GROUP BY
    c2
) AS classes
