-- The SQL of the views that are called like one of these names, and of all that they read.
WITH RECURSIVE reached AS (
    SELECT oid FROM pg_class WHERE lower(relname::TEXT) = ANY(SELECT lower(given) FROM unnest(%(names)s::TEXT[]) AS given)
    UNION
    SELECT pg_depend.refobjid
    FROM reached
    JOIN pg_rewrite ON pg_rewrite.ev_class = reached.oid
    JOIN pg_depend
        ON pg_depend.objid = pg_rewrite.oid
        AND pg_depend.classid = 'pg_rewrite'::REGCLASS
        AND pg_depend.refclassid = 'pg_class'::REGCLASS
)
SELECT pg_class.relname::TEXT AS name, pg_get_viewdef(pg_class.oid) AS definition
FROM reached
JOIN pg_class ON pg_class.oid = reached.oid
WHERE pg_class.relkind = 'v' AND pg_class.relnamespace <> ALL(ARRAY['pg_catalog'::REGNAMESPACE, 'information_schema'::REGNAMESPACE])
