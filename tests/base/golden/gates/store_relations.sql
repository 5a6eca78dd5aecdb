/* sqlaudit: store_relations */
/* The tables and views of a file of ours: what each is, its comment, and its columns with their types, in order. */
SELECT
    relations.name,
    relations.kind,
    COALESCE(relations.comment, '') AS comment,
    LIST(columns.column_name || ' ' || columns.data_type ORDER BY columns.column_index) AS columns
FROM (
    SELECT table_name AS name, 'table' AS kind, comment
    FROM duckdb_tables()
    WHERE database_name = 'store' AND schema_name = 'main'
    UNION ALL
    SELECT view_name, 'view', comment
    FROM duckdb_views()
    WHERE database_name = 'store' AND schema_name = 'main' AND NOT internal
) AS relations
LEFT JOIN duckdb_columns() AS columns
    ON columns.database_name = 'store' AND columns.schema_name = 'main' AND columns.table_name = relations.name
GROUP BY ALL
