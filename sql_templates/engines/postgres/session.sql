-- What the server says about itself.
SELECT
    current_setting('server_version') AS version,
    (SELECT setting::BIGINT FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
    current_user::TEXT AS role,
    current_database()::TEXT AS database
