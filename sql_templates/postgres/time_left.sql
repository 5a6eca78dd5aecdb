-- The next statement may take as long as the whole command still has, in milliseconds.
SELECT set_config('statement_timeout', %(milliseconds)s, TRUE)
