/* sqlaudit: weights */
SELECT
    COUNT(*) AS total,
    COALESCE(SUM(CASE WHEN weight IS NULL OR NOT weight > 0 THEN 1 ELSE 0 END), 0) AS refused,
    MAX(CAST(weight AS DOUBLE)) AS largest
FROM (
    SELECT "w" AS weight
    FROM patients
) AS weighted
