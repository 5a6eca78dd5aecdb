/* sqlaudit: types */
-- Types by number and modifier: how PostgreSQL writes them, their plain name, whether they are enums, whether a collation
-- can say what is equal, and whether they come with operators of their own (citext and other types of extensions).
SELECT
    format_type(pg_type.oid, given.modifier) AS written,
    pg_type.typname::TEXT AS name,
    pg_type.typtype = 'e' AS is_enum,
    pg_type.typcollation <> 0 AS is_collatable,
    pg_type.typtype = 'b' AND pg_type.typcategory <> 'A' AND pg_type.typnamespace <> 'pg_catalog'::REGNAMESPACE AS is_foreign
FROM unnest(%(oids)s::BIGINT[], %(modifiers)s::INTEGER[]) WITH ORDINALITY AS given (oid, modifier, position)
JOIN pg_type ON pg_type.oid = given.oid::OID
ORDER BY given.position
