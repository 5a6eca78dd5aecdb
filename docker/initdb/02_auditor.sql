-- The least that an audit needs: to connect, to use one schema, to read. No temporary tables, no functions, no writes.
CREATE ROLE auditor LOGIN NOINHERIT CONNECTION LIMIT 4;

-- Nobody gets in, or makes temporary tables, because everybody may.
DO $$ BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO auditor', current_database());
END $$;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

GRANT USAGE ON SCHEMA clinic TO auditor;
GRANT SELECT ON clinic.release TO auditor;
-- By column: who the patients are is nothing an auditor has to see.
GRANT SELECT (age, sex, region, admitted, diagnosis) ON clinic.patients TO auditor;

-- sqlaudit reads only, whatever is set here; these are for other programs that use the role.
ALTER ROLE auditor SET default_transaction_read_only = on;
ALTER ROLE auditor SET statement_timeout = '10min';
ALTER ROLE auditor SET idle_in_transaction_session_timeout = '10min';
