/* sqlaudit: columns_totals */
SELECT
  COUNT(*) AS total,
  COUNT(DISTINCT e) AS persons,
  COUNT(*) - COUNT(e) AS nameless
FROM `sqlaudit_view_kept_sqlaudit_columns_rows`
