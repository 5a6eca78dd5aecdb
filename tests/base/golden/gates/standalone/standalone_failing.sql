/* sqlaudit: standalone_failing */
SELECT
    size AS class_size,
    row_count AS n_records
FROM facts
WHERE (size < 2
)
