/* sqlaudit: columns */
SELECT table_schema AS schema_name, table_name, column_name
FROM information_schema.columns
WHERE table_schema NOT IN ('information_schema', 'pg_catalog')
    AND table_catalog NOT IN ('memory', 'system', 'temp')
ORDER BY table_schema, table_name, ordinal_position
LIMIT 20000
