/* sqlaudit: sensitive values */
WITH target AS NOT MATERIALIZED (
  SELECT
    "person" AS e,
    "disease" AS s
  FROM patients
), lanes AS MATERIALIZED (
  SELECT
    s,
    total,
    ROW_NUMBER() OVER (ORDER BY s COLLATE "C") - 1 AS lane
  FROM (
    SELECT
      s,
      COUNT(DISTINCT e) AS total
    FROM target
    GROUP BY
      s
  ) AS seen
)
SELECT
  lane,
  s,
  total
FROM lanes
ORDER BY
  lane
