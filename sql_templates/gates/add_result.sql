INSERT INTO store.main.results (
    run, table_name, requirement, sensitive, outcome, falls_short, level, failing_classes, failing_rows, table_rows,
    column_sets, asked
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
