/* sqlaudit: pin_writer */
-- The schema in which this role makes views; from now on names are looked up in pg_catalog alone.
SELECT pg_catalog.current_schema()::pg_catalog.text, pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', TRUE)
