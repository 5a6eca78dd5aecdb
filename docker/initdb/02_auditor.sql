-- The least privileges for an audit: connect, use one schema, read. No temporary tables, functions or writes.
CREATE ROLE auditor LOGIN NOINHERIT CONNECTION LIMIT 4;

-- Take away what PUBLIC may do by default: connect and create temporary tables.
DO $$ BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO auditor', current_database());
END $$;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

GRANT USAGE ON SCHEMA clinic TO auditor;
GRANT SELECT ON clinic.release TO auditor;
-- By column: an auditor does not need to see the patients' names and numbers.
GRANT SELECT (age, sex, region, admitted, diagnosis) ON clinic.patients TO auditor;

-- sqlaudit only reads, whatever is set here. These settings are for other programs that use the role.
ALTER ROLE auditor SET default_transaction_read_only = on;
ALTER ROLE auditor SET statement_timeout = '10min';
ALTER ROLE auditor SET idle_in_transaction_session_timeout = '10min';
