/* sqlaudit: release_column_whole */
SELECT
    COALESCE(SUM(row_count * LOG2(row_count)), 0) AS value_bits,
    MAX(TRY_CAST(v AS DOUBLE)) - MIN(TRY_CAST(v AS DOUBLE)) AS width
FROM patients
