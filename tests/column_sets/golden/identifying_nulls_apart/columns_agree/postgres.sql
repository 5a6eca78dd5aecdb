/* sqlaudit: columns_agree */
WITH people AS MATERIALIZED (
  SELECT
    ROW_NUMBER() OVER () AS number,
    listed.*
  FROM (
    SELECT
      "zip" AS c0,
      "age" AS c1,
      "sex" AS c2
    FROM "public"."sets_of_people"
  ) AS listed
)
SELECT DISTINCT
  w0
FROM (
  SELECT
    CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
  FROM people AS a
  JOIN people AS b
    ON a.number < b.number
  WHERE
    1 = 1
) AS pairs
WHERE
  NOT (
    w0 = 7
  )
;
/* sqlaudit: columns_agree */
WITH people AS MATERIALIZED (
  SELECT
    ROW_NUMBER() OVER () AS number,
    listed.*
  FROM (
    SELECT
      "zip" AS c0,
      "age" AS c1,
      "sex" AS c2
    FROM "public"."sets_of_people"
  ) AS listed
)
SELECT DISTINCT
  w0
FROM (
  SELECT
    CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
  FROM people AS a
  JOIN people AS b
    ON a.c1 = b.c1 AND a.number < b.number
  WHERE
    1 = 1
) AS pairs
WHERE
  NOT (
    w0 = 7
  )
;
/* sqlaudit: columns_agree */
WITH people AS MATERIALIZED (
  SELECT
    ROW_NUMBER() OVER () AS number,
    listed.*
  FROM (
    SELECT
      "zip" AS c0,
      "age" AS c1,
      "sex" AS c2
    FROM "public"."sets_of_people"
  ) AS listed
)
SELECT DISTINCT
  w0
FROM (
  SELECT
    CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
  FROM people AS a
  JOIN people AS b
    ON a.c0 = b.c0 AND a.number < b.number
  WHERE
    1 = 1
) AS pairs
WHERE
  NOT (
    w0 = 7
  )
;
/* sqlaudit: columns_agree */
WITH people AS MATERIALIZED (
  SELECT
    ROW_NUMBER() OVER () AS number,
    listed.*
  FROM (
    SELECT
      "zip" AS c0,
      "age" AS c1,
      "sex" AS c2
    FROM "public"."sets_of_people"
  ) AS listed
)
SELECT DISTINCT
  w0
FROM (
  SELECT
    CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
  FROM people AS a
  JOIN people AS b
    ON a.c2 = b.c2 AND a.number < b.number
  WHERE
    1 = 1
) AS pairs
WHERE
  NOT (
    w0 = 7
  )
;
/* sqlaudit: columns_agree */
WITH people AS MATERIALIZED (
  SELECT
    ROW_NUMBER() OVER () AS number,
    listed.*
  FROM (
    SELECT
      "zip" AS c0,
      "age" AS c1,
      "sex" AS c2
    FROM "public"."sets_of_people"
  ) AS listed
)
SELECT DISTINCT
  w0
FROM (
  SELECT
    CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
  FROM people AS a
  JOIN people AS b
    ON a.c0 = b.c0 AND a.c1 = b.c1 AND a.c2 = b.c2 AND a.number < b.number
  WHERE
    1 = 1
) AS pairs
WHERE
  NOT (
    w0 = 7
  )
