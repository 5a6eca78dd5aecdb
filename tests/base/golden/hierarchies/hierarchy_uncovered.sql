/* sqlaudit: hierarchy_uncovered */
SELECT
    COALESCE(SUM(CASE WHEN covered THEN 0 ELSE 1 END), 0) AS unlisted_values,
    COALESCE(SUM(CASE WHEN covered THEN 0 ELSE row_count END), 0) AS unlisted_rows,
    COALESCE(SUM(CASE WHEN key IS NULL THEN row_count ELSE 0 END), 0) AS missing_rows
FROM "test_dictionary_0"
