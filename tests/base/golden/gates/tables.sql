/* sqlaudit: tables */
/* The tables and views that can be read, for a policy to begin with. */
SELECT table_schema AS schema_name, table_name
FROM information_schema.tables
WHERE table_schema NOT IN ('information_schema', 'pg_catalog')
    AND table_catalog NOT IN ('memory', 'system', 'temp')
ORDER BY table_schema, table_name
