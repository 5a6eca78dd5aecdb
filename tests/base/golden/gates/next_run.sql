/* sqlaudit: next_run */
SELECT COALESCE(MAX(run), 0) + 1 AS next_run
FROM store.main.runs
