/* sqlaudit: release_matched */
SELECT
    SUM(CASE WHEN q IS NOT NULL THEN n END) AS row_total,
    SUM(CASE WHEN c IS NOT NULL THEN n END) AS released,
    SUM(CASE WHEN q IS NOT NULL AND c IS NOT NULL THEN n END) AS matched
FROM patients
