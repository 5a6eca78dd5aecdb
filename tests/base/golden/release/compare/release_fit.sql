/* sqlaudit: release_fit */
SELECT
    level,
    CAST(SUM(m) AS BIGINT) AS row_total,
    COUNT(*) AS cells,
    SUM(CASE WHEN fits THEN 0 ELSE 1 END) AS empty_cells,
    CAST(SUM(CASE WHEN fits THEN 0 ELSE m END) AS BIGINT) AS empty_rows,
    SUM(CASE WHEN is_odd THEN 1 ELSE 0 END) AS odd_cells
FROM patients
WHERE m > 0
GROUP BY level
ORDER BY level
