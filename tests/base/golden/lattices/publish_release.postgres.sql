/* sqlaudit: publish_release */
WITH given AS (
  SELECT
    "age" AS "age"
  FROM "main"."p"
), coarsened AS (
  SELECT
    (given."age") AS "age"
  FROM given
)
SELECT
  "age"
FROM coarsened
