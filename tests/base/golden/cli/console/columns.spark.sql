/* sqlaudit: columns */
SELECT
  table_schema AS schema_name,
  table_name,
  column_name
FROM information_schema.columns
WHERE
  NOT table_schema IN ('information_schema', 'pg_catalog')
ORDER BY
  table_schema NULLS LAST,
  table_name NULLS LAST,
  ordinal_position NULLS LAST
LIMIT 20000
