/* sqlaudit: release_texts */
SELECT t, CAST(COUNT(*) AS BIGINT) AS n
FROM (
    SELECT CAST("q" AS TEXT) AS t
    FROM patients
) AS cells
GROUP BY t
