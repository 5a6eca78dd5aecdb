-- The settings of an audit's transaction, said again before each statement: a view or a function that was read can have
-- changed them (set_config). Every name is in full, no operator is used, and nothing outlives the transaction.
SELECT
    pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', TRUE),  -- no name of ours means something else
    pg_catalog.set_config('role', COALESCE(%(role)s, pg_catalog.current_setting('role')), TRUE),
    pg_catalog.set_config('row_security', 'off', TRUE),                 -- a table with policies is an error, not half a table
    pg_catalog.set_config('client_encoding', 'UTF8', TRUE),
    pg_catalog.set_config('lock_timeout', %(lock_timeout)s, TRUE),
    pg_catalog.set_config('timezone', 'UTC', TRUE),                     -- the same text and the same days on every server
    pg_catalog.set_config('datestyle', 'ISO, YMD', TRUE),
    pg_catalog.set_config('intervalstyle', 'postgres', TRUE),
    pg_catalog.set_config('extra_float_digits', '1', TRUE),             -- the shortest text that is exact
    pg_catalog.set_config('bytea_output', 'hex', TRUE),
    pg_catalog.set_config('lc_monetary', 'C', TRUE),
    pg_catalog.set_config('standard_conforming_strings', 'on', TRUE),   -- a backslash in a literal is a backslash
    pg_catalog.set_config('transform_null_equals', 'off', TRUE),        -- "= NULL" is not "IS NULL"
    pg_catalog.set_config('array_nulls', 'on', TRUE),
    pg_catalog.set_config('quote_all_identifiers', 'off', TRUE),
    pg_catalog.set_config('cursor_tuple_fraction', '1', TRUE),          -- exports are read to their end
    pg_catalog.set_config('jit', 'off', TRUE),                          -- many short-lived statements: compiling costs more
    pg_catalog.set_config('work_mem', COALESCE(%(work_mem)s, pg_catalog.current_setting('work_mem')), TRUE),
    pg_catalog.set_config(
        'max_parallel_workers_per_gather',
        COALESCE(%(workers)s, pg_catalog.current_setting('max_parallel_workers_per_gather')),
        TRUE
    ),
    CASE WHEN %(client_check)s::pg_catalog.text IS NOT NULL  -- a server before 14 does not know the setting
        THEN pg_catalog.set_config('client_connection_check_interval', %(client_check)s, TRUE)
    END,
    pg_catalog.set_config(
        'statement_timeout', COALESCE(%(milliseconds)s, pg_catalog.current_setting('statement_timeout')), TRUE
    )
