-- The settings of an audit's transaction, and what the server says about itself. Nothing outlives the transaction.
SELECT
    set_config('row_security', 'off', TRUE),                 -- a table with policies is an error, not half a table
    set_config('lock_timeout', %(lock_timeout)s, TRUE),
    set_config('timezone', 'UTC', TRUE),                     -- the same text and the same days on every server
    set_config('datestyle', 'ISO, YMD', TRUE),
    set_config('intervalstyle', 'postgres', TRUE),
    set_config('extra_float_digits', '1', TRUE),             -- the shortest text that is exact
    set_config('bytea_output', 'hex', TRUE),
    set_config('lc_monetary', 'C', TRUE),
    set_config('standard_conforming_strings', 'on', TRUE),   -- a backslash in a literal is a backslash
    set_config('cursor_tuple_fraction', '1', TRUE),          -- exports are read to their end
    set_config('jit', 'off', TRUE),                          -- many short-lived statements: compiling costs more
    set_config('work_mem', coalesce(%(work_mem)s, current_setting('work_mem')), TRUE),
    set_config(
        'max_parallel_workers_per_gather',
        coalesce(%(workers)s, current_setting('max_parallel_workers_per_gather')),
        TRUE
    ),
    current_setting('server_version') AS version,
    (SELECT setting::BIGINT FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
    pg_is_in_recovery() AS is_standby,
    current_user::TEXT AS role,
    current_database()::TEXT AS database
