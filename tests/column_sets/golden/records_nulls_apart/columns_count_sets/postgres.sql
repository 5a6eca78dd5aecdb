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
  SUM(CASE WHEN solo = 1 OR members < 3 THEN members ELSE 0 END) AS at_risk,
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
    MAX(CASE WHEN c0 IS NULL OR c1 IS NULL THEN 1 ELSE 0 END) AS solo,
    COUNT(*) AS members
  FROM people
  GROUP BY
    c0,
    c1,
    c2
) AS classes
