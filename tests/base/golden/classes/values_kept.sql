/* sqlaudit: values_kept */
SELECT lane, s, total, null_rows, rows_without_entity
FROM totals AS kept
ORDER BY lane
