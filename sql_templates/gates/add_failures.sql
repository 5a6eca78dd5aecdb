INSERT INTO store.main.failures
SELECT "table", failed_requirements, sensitive, class_size, class_rows, classes, figures, "key"
FROM read_parquet($1)
