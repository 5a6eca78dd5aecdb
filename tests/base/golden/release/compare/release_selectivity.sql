/* sqlaudit: release_selectivity */
SELECT
    (SELECT SUM(CAST(m AS DOUBLE) * covered_rows) FROM patients) AS column_1
