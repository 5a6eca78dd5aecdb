/* sqlaudit: tables */
/* The tables and views that can be read, for a policy to begin with. */
SELECT
  table_schema AS schema_name,
  table_name
FROM information_schema.tables
WHERE
  NOT table_schema IN ('information_schema', 'pg_catalog')
ORDER BY
  table_schema,
  table_name
