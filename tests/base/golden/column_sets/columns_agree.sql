/* sqlaudit: columns_agree */
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END AS w0

    FROM patients AS a
    JOIN patients AS b ON a.rowid < b.rowid
    WHERE 1 = 1
) AS pairs
WHERE NOT (w0 = 1)
