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
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM "sqlaudit_columns_distinct" AS a
    JOIN "sqlaudit_columns_distinct" AS b ON a.c1 = b.c1 AND a.rowid < b.rowid
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
;
/* sqlaudit: columns_agree */
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM "sqlaudit_columns_distinct" AS a
    JOIN "sqlaudit_columns_distinct" AS b ON a.c0 = b.c0 AND a.rowid < b.rowid
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
;
/* sqlaudit: columns_agree */
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM "sqlaudit_columns_distinct" AS a
    JOIN "sqlaudit_columns_distinct" AS b ON a.c2 = b.c2 AND a.rowid < b.rowid
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
;
/* sqlaudit: columns_agree */
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END + CASE WHEN a.c1 = b.c1 THEN 2 ELSE 0 END + CASE WHEN a.c2 = b.c2 THEN 4 ELSE 0 END AS w0

    FROM "sqlaudit_columns_distinct" AS a
    JOIN "sqlaudit_columns_distinct" AS b ON a.c0 = b.c0 AND a.c1 = b.c1 AND a.c2 = b.c2 AND a.rowid < b.rowid
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 7)
