/* sqlaudit: columns_count_mixed */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
        DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
    FROM people
)

SELECT 0 AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
        DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
    FROM people
)

SELECT 0 AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    GROUP BY c1
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
        DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
    FROM people
)

SELECT 0 AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    GROUP BY c1 + CAST(c2 AS BIGINT) * 25
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
        DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
    FROM people
)

SELECT 0 AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    GROUP BY c0 + CAST(c1 AS BIGINT) * 3 + CAST(c2 AS BIGINT) * 75
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
        DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
    FROM people
)

SELECT 0 AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    GROUP BY c0
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
        DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
    FROM people
)

SELECT 0 AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    GROUP BY c0 + CAST(c1 AS BIGINT) * 3
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
;
/* sqlaudit: columns_count_mixed */
WITH people AS (
SELECT *
    FROM "sqlaudit_columns_codes"
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
        DENSE_RANK() OVER (ORDER BY c0, c1, c2) AS full_row
    FROM people
)

SELECT 0 AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    GROUP BY c0 + CAST(c2 AS BIGINT) * 3
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
