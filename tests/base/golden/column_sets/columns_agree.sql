/* sqlaudit: columns_agree */
WITH repeated AS MATERIALIZED (
    SELECT *
    FROM (
        SELECT
            coded.rowid AS number,
            c0 AS k0,
            coded.*
        FROM patients AS coded
    ) AS listed
    SEMI JOIN shared_keys AS keys USING (k0)
)
SELECT DISTINCT w0
FROM (
    SELECT
CASE WHEN a.c0 = b.c0 THEN 1 ELSE 0 END AS w0

    FROM repeated AS a
    JOIN repeated AS b ON a.k0 = b.k0 AND a.number < b.number
    WHERE 1 = 1
) AS pairs
