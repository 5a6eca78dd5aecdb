/* sqlaudit: cells */
WITH target AS (
  SELECT
    "zip" AS q1,
    "age" AS q2
  FROM patients
), classes AS MATERIALIZED (
  SELECT
    q1,
    q2,
    COUNT(*) AS members
  FROM target
  GROUP BY
    q1,
    q2
), placed AS (
  SELECT
    members,
    LN(CAST(SUM(members) OVER (PARTITION BY q1) AS DOUBLE PRECISION)) + LN(CAST(SUM(members) OVER (PARTITION BY q2) AS DOUBLE PRECISION)) AS effects
  FROM classes
), unseen AS (
  SELECT
    EXP(effects - 1 * LN(CAST(9 AS DOUBLE PRECISION))) * (9e0) AS x
  FROM placed
  WHERE
    members = 1
)
SELECT
  SUM(EXP(-x)) AS tau1,
  SUM(
    CASE
      WHEN x < 1e-6
      THEN 1 - CAST(x AS DOUBLE PRECISION) / 2
      ELSE CAST((
        1 - EXP(-x)
      ) AS DOUBLE PRECISION) / x
    END
  ) AS tau2
FROM unseen
