/* sqlaudit: columns_count_mixed */
WITH people AS (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2,
    "person" AS e
  FROM "public"."sets_of_people"
), numbered AS MATERIALIZED (
  SELECT
    people.*,
    DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
  FROM people
)
SELECT
  0 AS set_number,
  COUNT(*) AS mixed
FROM (
  SELECT
    COUNT(*) AS members
  FROM numbered
  HAVING
    COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2,
    "person" AS e
  FROM "public"."sets_of_people"
), numbered AS MATERIALIZED (
  SELECT
    people.*,
    DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
  FROM people
)
SELECT
  0 AS set_number,
  COUNT(*) AS mixed
FROM (
  SELECT
    COUNT(*) AS members
  FROM numbered
  GROUP BY
    c1
  HAVING
    COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2,
    "person" AS e
  FROM "public"."sets_of_people"
), numbered AS MATERIALIZED (
  SELECT
    people.*,
    DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
  FROM people
)
SELECT
  0 AS set_number,
  COUNT(*) AS mixed
FROM (
  SELECT
    COUNT(*) AS members
  FROM numbered
  GROUP BY
    c1,
    c2
  HAVING
    COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2,
    "person" AS e
  FROM "public"."sets_of_people"
), numbered AS MATERIALIZED (
  SELECT
    people.*,
    DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
  FROM people
)
SELECT
  0 AS set_number,
  COUNT(*) AS mixed
FROM (
  SELECT
    COUNT(*) AS members
  FROM numbered
  GROUP BY
    c0,
    c1,
    c2
  HAVING
    COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2,
    "person" AS e
  FROM "public"."sets_of_people"
), numbered AS MATERIALIZED (
  SELECT
    people.*,
    DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
  FROM people
)
SELECT
  0 AS set_number,
  COUNT(*) AS mixed
FROM (
  SELECT
    COUNT(*) AS members
  FROM numbered
  GROUP BY
    c0
  HAVING
    COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2,
    "person" AS e
  FROM "public"."sets_of_people"
), numbered AS MATERIALIZED (
  SELECT
    people.*,
    DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
  FROM people
)
SELECT
  0 AS set_number,
  COUNT(*) AS mixed
FROM (
  SELECT
    COUNT(*) AS members
  FROM numbered
  GROUP BY
    c0,
    c1
  HAVING
    COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
  SELECT
    "zip" AS c0,
    "age" AS c1,
    "sex" AS c2,
    "person" AS e
  FROM "public"."sets_of_people"
), numbered AS MATERIALIZED (
  SELECT
    people.*,
    DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
  FROM people
)
SELECT
  0 AS set_number,
  COUNT(*) AS mixed
FROM (
  SELECT
    COUNT(*) AS members
  FROM numbered
  GROUP BY
    c0,
    c2
  HAVING
    COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
