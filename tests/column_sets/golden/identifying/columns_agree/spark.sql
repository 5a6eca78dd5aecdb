/* sqlaudit: columns_agree */
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM "sqlaudit_columns_distinct" AS a
    JOIN "sqlaudit_columns_distinct" AS b ON a.rowid < b.rowid
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
;
/* sqlaudit: columns_agree */
WITH repeated AS MATERIALIZED (
    SELECT coded.rowid AS number, coded.*
    FROM "sqlaudit_columns_distinct" AS coded
    SEMI JOIN (
        SELECT c1
        FROM "sqlaudit_columns_distinct"
        GROUP BY c1
        HAVING COUNT(*) > 1
    ) AS keys USING (c1)
)
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM repeated AS a
    JOIN repeated AS b ON a.c1 = b.c1 AND a.number < b.number
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
;
/* sqlaudit: columns_agree */
WITH repeated AS MATERIALIZED (
    SELECT coded.rowid AS number, coded.*
    FROM "sqlaudit_columns_distinct" AS coded
    SEMI JOIN (
        SELECT c0
        FROM "sqlaudit_columns_distinct"
        GROUP BY c0
        HAVING COUNT(*) > 1
    ) AS keys USING (c0)
)
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM repeated AS a
    JOIN repeated AS b ON a.c0 = b.c0 AND a.number < b.number
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
;
/* sqlaudit: columns_agree */
WITH repeated AS MATERIALIZED (
    SELECT coded.rowid AS number, coded.*
    FROM "sqlaudit_columns_distinct" AS coded
    SEMI JOIN (
        SELECT c2
        FROM "sqlaudit_columns_distinct"
        GROUP BY c2
        HAVING COUNT(*) > 1
    ) AS keys USING (c2)
)
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM repeated AS a
    JOIN repeated AS b ON a.c2 = b.c2 AND a.number < b.number
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
;
/* sqlaudit: columns_agree */
WITH repeated AS MATERIALIZED (
    SELECT coded.rowid AS number, coded.*
    FROM "sqlaudit_columns_distinct" AS coded
    SEMI JOIN (
        SELECT c0, c1, c2
        FROM "sqlaudit_columns_distinct"
        GROUP BY c0, c1, c2
        HAVING COUNT(*) > 1
    ) AS keys USING (c0, c1, c2)
)
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM repeated AS a
    JOIN repeated AS b ON a.c0 = b.c0 AND a.c1 = b.c1 AND a.c2 = b.c2 AND a.number < b.number
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
