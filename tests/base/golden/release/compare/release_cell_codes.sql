/* sqlaudit: release_cell_codes */
SELECT
    CASE WHEN t IS NULL THEN 0 ELSE CAST(ROW_NUMBER() OVER (ORDER BY t NULLS LAST) AS INTEGER) END AS code,
    t, n
FROM patients AS seen
