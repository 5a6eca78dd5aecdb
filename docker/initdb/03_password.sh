#!/bin/sh
# Set the auditor's password from the environment. psql quotes it.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set password="$AUDITOR_PASSWORD" \
    --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
SET log_statement = 'none';
ALTER ROLE auditor PASSWORD :'password';
SQL
