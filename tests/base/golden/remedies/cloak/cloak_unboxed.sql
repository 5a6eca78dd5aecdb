/* sqlaudit: cloak_unboxed */
SELECT
    COUNT(*) AS messages,
    CAST(COALESCE(SUM(CASE WHEN "a" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS unboxed
FROM patients
