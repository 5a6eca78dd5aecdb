"""What the auditor's role may read: missing grants are named, and row-level security never halves an audit."""

from __future__ import annotations

import pytest

from sqlaudit.base.errors import EngineError, PermissionDenied, SqlauditError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.postgres_load import Loader
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.postgres

ROWS = [(30, "Ann", "flu"), (41, "Bob", "cold")]
COLUMNS = ["age", "name", "disease"]


def denied(url: str, target: Target) -> str:
    with PostgresEngine(url) as engine, pytest.raises(PermissionDenied) as caught:
        engine.open(target)
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_a_closed_schema_is_named_with_its_grant(load: Loader, postgres_url: str) -> None:
    load("secret", ROWS, COLUMNS, schema="closed wing")
    load.execute('REVOKE USAGE ON SCHEMA "closed wing" FROM auditor')
    sentence = (
        "The role 'auditor' may not use the schema 'closed wing' "
        '(GRANT USAGE ON SCHEMA "closed wing" TO "auditor").'
    )
    assert denied(postgres_url, Target('"closed wing".secret')) == sentence
    assert denied(postgres_url, Target("secret")) == sentence
    assert denied(postgres_url, Target(query='SELECT age FROM "closed wing".secret')) == sentence


def test_a_closed_table_is_named_with_its_grant(load: Loader, postgres_url: str) -> None:
    load("closed_table", ROWS, COLUMNS)
    load.execute("REVOKE ALL ON closed_table FROM auditor")
    sentence = (
        "The role 'auditor' may not read 'public.closed_table' "
        '(GRANT SELECT ON "public"."closed_table" TO "auditor").'
    )
    assert denied(postgres_url, Target("closed_table")) == sentence
    assert denied(postgres_url, Target(query="WITH c AS (SELECT * FROM closed_table) SELECT age FROM c")) == sentence


def test_closed_columns_are_left_out_and_named_when_they_are_used(load: Loader, postgres_url: str) -> None:
    load("partly", ROWS, COLUMNS)
    load.execute("REVOKE ALL ON partly FROM auditor; GRANT SELECT (age, disease) ON partly TO auditor")
    with PostgresEngine(postgres_url) as engine:
        relation = engine.open(Target("partly"))
        assert [column.name for column in relation.columns] == ["age", "disease"]
        assert relation.unreadable == ("name",)
        assert relation.sql == '(SELECT "age", "disease" FROM "public"."partly")'
        assert engine.run(Statement("rows", "SELECT COUNT(*) FROM " + relation.sql + " AS t")) == [(2,)]
    sentence = (
        "The role 'auditor' may not read the column 'name' of 'public.partly' "
        '(GRANT SELECT ("name") ON "public"."partly" TO "auditor").'
    )
    assert denied(postgres_url, Target("partly", where="name <> 'Ann'")) == sentence
    assert denied(postgres_url, Target(query="SELECT p.name, age FROM partly AS p")) == sentence
    assert denied(postgres_url, Target(query="SELECT * FROM partly")) == sentence


def test_row_level_security_is_refused_instead_of_auditing_half_a_table(
    load: Loader, postgres_url: str, postgres_admin_url: str
) -> None:
    load("guarded", ROWS, COLUMNS)
    load.execute(
        """
        ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
        CREATE POLICY young ON guarded FOR SELECT TO auditor USING (age < 40);
        CREATE OR REPLACE VIEW guarded_by_owner AS SELECT age, disease FROM guarded;
        GRANT SELECT ON guarded_by_owner TO auditor"""
    )
    rest = ", so the table cannot be audited. Use a role with BYPASSRLS, or a view that belongs to the table's owner."
    table = "Row-level security hides rows from this role in the table 'public.guarded'" + rest
    assert denied(postgres_url, Target("guarded")) == table
    assert denied(postgres_url, Target(query="SELECT age FROM guarded")) == table
    with PostgresEngine(postgres_url) as engine:
        with pytest.raises(PermissionDenied) as caught:
            engine.run(Statement("totals", "SELECT COUNT(*) FROM public.guarded"))
        assert str(caught.value) == "Row-level security hides rows from this role in the step 'totals'" + rest
        view = engine.open(Target("guarded_by_owner"))
        assert engine.run(Statement("totals", "SELECT COUNT(*) FROM " + view.sql)) == [(2,)]
    with PostgresEngine(postgres_admin_url) as engine:
        relation = engine.open(Target("guarded"))
        assert engine.run(Statement("totals", "SELECT COUNT(*) FROM " + relation.sql)) == [(2,)]


def test_a_view_over_a_table_with_policies_for_its_owner_is_refused(load: Loader, postgres_url: str) -> None:
    load("forced", ROWS, COLUMNS)
    load.execute(
        """
        DROP ROLE IF EXISTS curator; CREATE ROLE curator; GRANT CREATE ON SCHEMA public TO curator;
        ALTER TABLE forced OWNER TO curator; ALTER TABLE forced ENABLE ROW LEVEL SECURITY;
        ALTER TABLE forced FORCE ROW LEVEL SECURITY; CREATE POLICY none ON forced USING (false);
        SET ROLE curator; CREATE VIEW forced_view AS SELECT * FROM forced;
        GRANT SELECT ON forced_view TO auditor; RESET ROLE"""
    )
    assert denied(postgres_url, Target("forced_view")).startswith(
        "Row-level security hides rows from this role in the table 'public.forced_view', so the table cannot be audited"
    )
    load.execute("DROP TABLE forced CASCADE; DROP OWNED BY curator; DROP ROLE curator")


def test_what_cannot_be_read_now_is_said(load: Loader, postgres_url: str) -> None:
    load.execute(
        """
        DROP MATERIALIZED VIEW IF EXISTS unfilled; CREATE MATERIALIZED VIEW unfilled AS SELECT 1 AS a WITH NO DATA;
        DROP FOREIGN DATA WRAPPER IF EXISTS nothing CASCADE; CREATE FOREIGN DATA WRAPPER nothing;
        CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing; CREATE FOREIGN TABLE abroad (a int) SERVER nowhere;
        DROP TABLE IF EXISTS no_columns; CREATE TABLE no_columns ();
        GRANT SELECT ON unfilled, abroad, no_columns TO auditor"""
    )
    with PostgresEngine(postgres_url) as engine:
        for name, sentence in {
            "unfilled": "The materialized view 'public.unfilled' has no data yet (REFRESH MATERIALIZED VIEW).",
            "abroad": "Something that the table 'public.abroad' reads cannot be read now: a materialized view without "
            "data, or a foreign server without a handler.",
            "no_columns": "The table 'public.no_columns' has no columns.",
        }.items():
            with pytest.raises(SqlauditError) as caught:
                engine.open(Target(name))
            assert str(caught.value) == sentence


def test_a_role_that_may_not_connect_or_log_in_is_told_so(load: Loader, postgres_server: PostgresServer) -> None:
    load.execute(
        """
        DROP ROLE IF EXISTS outsider; CREATE ROLE outsider LOGIN PASSWORD 'x';
        DROP ROLE IF EXISTS nologin_role; CREATE ROLE nologin_role NOLOGIN PASSWORD 'x'"""
    )
    with pytest.raises(EngineError) as caught:
        PostgresEngine(postgres_server.url("outsider", "x"))
    assert (
        str(caught.value) == "The role 'outsider' may not connect to the database 'clinic' (GRANT CONNECT ON DATABASE)."
    )
    with pytest.raises(EngineError) as caught:
        PostgresEngine(postgres_server.url("nologin_role", "x"))
    assert str(caught.value) == "The role 'nologin_role' may not log in (ALTER ROLE ... LOGIN)."
