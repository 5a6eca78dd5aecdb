/* sqlaudit: relations */
-- Everything that can be audited under a name: tables, partitioned tables, views, materialized views, foreign tables.
-- `path` are the schemas that the role looks names up in, in their order, which pg_table_is_visible does not know now.
-- Asked with a name first; when nothing has exactly that name, without one, to find it in other letters or to guess.
SELECT
    c.oid::BIGINT AS id,
    n.nspname::TEXT AS schema,
    c.relname::TEXT AS name,
    array_position(%(path)s::TEXT[], n.nspname::TEXT) IS NOT NULL AND NOT EXISTS (
        SELECT 1
        FROM pg_class AS before
        JOIN pg_namespace AS home ON home.oid = before.relnamespace
        WHERE before.relname = c.relname
            AND array_position(%(path)s::TEXT[], home.nspname::TEXT) < array_position(%(path)s::TEXT[], n.nspname::TEXT)
    ) AS on_search_path,
    c.relispopulated AS has_data,
    has_schema_privilege(n.oid, 'USAGE') AS schema_usable,
    row_security_active(c.oid) AS row_security,
    c.relpersistence = 'u' AND pg_is_in_recovery() AS missing_on_standby
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE
    c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT pg_is_other_temp_schema(n.oid)
    AND n.nspname <> 'pg_toast'
    AND (%(name)s::TEXT IS NOT NULL OR n.nspname NOT IN ('pg_catalog', 'information_schema'))
    AND (%(name)s::TEXT IS NULL OR c.relname = %(name)s::TEXT)
    AND (%(schema)s::TEXT IS NULL OR n.nspname = %(schema)s::TEXT)
ORDER BY on_search_path DESC, schema, name
