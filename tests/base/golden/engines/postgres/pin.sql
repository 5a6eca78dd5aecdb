/* sqlaudit: pin */
-- The first statement of a transaction: where names were looked up so far, as whom, and from now on in pg_catalog alone.
-- Every name is written in full, since here an operator or function of somebody else could still take its place.
SELECT
    pg_catalog.current_schemas(TRUE)::pg_catalog.text[] AS path,
    pg_catalog.current_setting('role') AS role,
    pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', TRUE)
