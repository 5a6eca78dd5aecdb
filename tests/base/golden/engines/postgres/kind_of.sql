/* sqlaudit: kind_of */
SELECT CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'i' THEN 'index' ELSE 'table' END
FROM pg_catalog.pg_class
WHERE relname = %(name)s
    AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = %(schema)s::TEXT)
