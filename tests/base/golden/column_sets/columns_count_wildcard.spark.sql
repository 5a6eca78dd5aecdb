/* sqlaudit: columns_count_wildcard */
WITH people AS (
  SELECT
    *
  FROM patients
), members AS (
  SELECT
    0 AS incomplete,
    COUNT(*) AS member_rows
  FROM people
  GROUP BY
    incomplete
), patterns AS (
  SELECT
    incomplete,
    SUM(member_rows) AS pattern_rows,
    MONOTONICALLY_INCREASING_ID() AS pattern
  FROM members
  GROUP BY
    incomplete
), met AS (
  SELECT
    a.pattern,
    b.member_rows AS partner
  FROM patterns AS a
  JOIN members AS b
    ON 1 = 1
  WHERE
    a.incomplete = 1
  UNION ALL
  SELECT
    a.pattern,
    b.member_rows AS partner
  FROM patterns AS a
  JOIN members AS b
    ON 1 = 1
  WHERE
    a.incomplete = 0 AND b.incomplete = 1
  UNION ALL
  SELECT
    a.pattern,
    b.member_rows AS partner
  FROM patterns AS a
  JOIN members AS b
    ON a.incomplete = b.incomplete
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
  SUM(CASE WHEN size < 2 THEN pattern_rows ELSE 0 END) AS at_risk,
  SUM(CASE WHEN size = 1 THEN pattern_rows ELSE 0 END) AS alone,
  NULL AS pairs
FROM patterns
JOIN sizes
  ON patterns.pattern = sizes.pattern
