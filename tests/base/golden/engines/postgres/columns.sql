/* sqlaudit: columns */
-- The columns of one relation in order, and whether this role may read each.
SELECT
    attname::TEXT AS name,
    has_column_privilege(attrelid, attnum, 'SELECT') AS readable
FROM pg_attribute
WHERE attrelid = %(id)s::BIGINT::OID AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
