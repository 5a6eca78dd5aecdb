/* sqlaudit: add_failures */
INSERT INTO store.main.failures
SELECT "table", falls_short_of, sensitive, class_size, class_rows, classes, figures, "key"
FROM read_parquet($1)
