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
    CASE WHEN a.c0 = b.c0 OR (
      a.c0 IS NULL AND b.c0 IS NULL
    ) THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 OR (
      a.c1 IS NULL AND b.c1 IS NULL
    ) THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
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
    DENSE_RANK() OVER (ORDER BY c1) AS r_c1,
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
    CASE WHEN a.c0 = b.c0 OR (
      a.c0 IS NULL AND b.c0 IS NULL
    ) THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 OR (
      a.c1 IS NULL AND b.c1 IS NULL
    ) THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
  FROM people AS a
  JOIN people AS b
    ON a.r_c1 = b.r_c1 AND a.number < b.number
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
    DENSE_RANK() OVER (ORDER BY c0) AS r_c0,
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
    CASE WHEN a.c0 = b.c0 OR (
      a.c0 IS NULL AND b.c0 IS NULL
    ) THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 OR (
      a.c1 IS NULL AND b.c1 IS NULL
    ) THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
  FROM people AS a
  JOIN people AS b
    ON a.r_c0 = b.r_c0 AND a.number < b.number
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
    CASE WHEN a.c0 = b.c0 OR (
      a.c0 IS NULL AND b.c0 IS NULL
    ) THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 OR (
      a.c1 IS NULL AND b.c1 IS NULL
    ) THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
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
    DENSE_RANK() OVER (ORDER BY c0) AS r_c0,
    DENSE_RANK() OVER (ORDER BY c1) AS r_c1,
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
    CASE WHEN a.c0 = b.c0 OR (
      a.c0 IS NULL AND b.c0 IS NULL
    ) THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 OR (
      a.c1 IS NULL AND b.c1 IS NULL
    ) THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0
  FROM people AS a
  JOIN people AS b
    ON a.r_c0 = b.r_c0 AND a.r_c1 = b.r_c1 AND a.c2 = b.c2 AND a.number < b.number
  WHERE
    1 = 1
) AS pairs
WHERE
  NOT (
    w0 = 7
  )
