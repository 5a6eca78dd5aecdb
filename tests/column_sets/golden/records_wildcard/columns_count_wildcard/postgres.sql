/* sqlaudit: columns_count_wildcard */
WITH people AS (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2
  FROM "public"."sets_of_people"
), members AS MATERIALIZED (
  SELECT
    c2,
    c0,
    c1,
    CASE WHEN c0 IS NULL OR c1 IS NULL THEN 1 ELSE 0 END AS incomplete,
    COUNT(*) AS member_rows
  FROM people
  GROUP BY
    c2,
    c0,
    c1,
    incomplete
), patterns AS MATERIALIZED (
  SELECT
    c2,
    c0,
    c1,
    incomplete,
    SUM(member_rows) AS pattern_rows,
    ROW_NUMBER() OVER () AS pattern
  FROM members
  GROUP BY
    c2,
    c0,
    c1,
    incomplete
), met AS (
  SELECT
    a.pattern,
    b.member_rows AS partner
  FROM patterns AS a
  JOIN members AS b
    ON a.c2 = b.c2
    AND (
      a.c0 = b.c0 OR a.c0 IS NULL OR b.c0 IS NULL
    )
    AND (
      a.c1 = b.c1 OR a.c1 IS NULL OR b.c1 IS NULL
    )
    AND 1 = 1
  WHERE
    a.incomplete = 1
  UNION ALL
  SELECT
    a.pattern,
    b.member_rows AS partner
  FROM patterns AS a
  JOIN members AS b
    ON a.c2 = b.c2
    AND (
      a.c0 = b.c0 OR a.c0 IS NULL OR b.c0 IS NULL
    )
    AND (
      a.c1 = b.c1 OR a.c1 IS NULL OR b.c1 IS NULL
    )
    AND 1 = 1
  WHERE
    a.incomplete = 0 AND b.incomplete = 1
  UNION ALL
  SELECT
    a.pattern,
    b.member_rows AS partner
  FROM patterns AS a
  JOIN members AS b
    ON a.c2 = b.c2 AND a.c0 = b.c0 AND a.c1 = b.c1 AND a.incomplete = b.incomplete
  WHERE
    a.incomplete = 0
), sizes AS (
  SELECT
    pattern,
    SUM(partner) AS size
  FROM met
  GROUP BY
    pattern
)
SELECT
  0 AS set_number,
  NULL AS classes,
  MIN(size) AS smallest,
  SUM(CASE WHEN size < 3 THEN pattern_rows ELSE 0 END) AS at_risk,
  SUM(CASE WHEN size = 1 THEN pattern_rows ELSE 0 END) AS alone,
  NULL AS pairs
FROM patterns
JOIN sizes
  ON patterns.pattern = sizes.pattern
