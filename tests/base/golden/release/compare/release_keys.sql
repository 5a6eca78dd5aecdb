/* sqlaudit: release_keys */
SELECT
    COUNT(*) AS row_total,
    CAST(COALESCE(SUM(CASE WHEN "id" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS nameless,
    (
        SELECT COUNT(*)
        FROM (
            SELECT 1
            FROM patients
            WHERE "id" IS NOT NULL
            GROUP BY "id"
        ) AS named
    ) AS different
FROM patients
