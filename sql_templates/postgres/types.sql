-- Types by number and modifier: how PostgreSQL writes them, their plain name, and whether they are enums.
SELECT
    format_type(pg_type.oid, given.modifier) AS written,
    pg_type.typname::TEXT AS name,
    pg_type.typtype = 'e' AS is_enum
FROM unnest(%(oids)s::BIGINT[], %(modifiers)s::INTEGER[]) WITH ORDINALITY AS given (oid, modifier, position)
JOIN pg_type ON pg_type.oid = given.oid::OID
ORDER BY given.position
