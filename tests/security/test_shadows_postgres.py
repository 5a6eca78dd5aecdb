"""Functions and operators of others that bear the names of built-in ones: no statement calls one, and no setting stays.

The functions are those of the statements that really ran, read off them by sqlglot, so a new template is covered. Each
shadow raises an error when it is called, and its schema stands before pg_catalog on the role's search path.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
import pytest
import sqlglot
from sqlglot import exp

import sqlaudit
from sqlaudit.base.errors import PermissionDenied, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Executed
from tests.postgres_load import Loader

_COMMANDS: list[tuple[str, dict[str, Any]]] = [
    ("audit", {"qi": ["age", "zip"], "sensitive": "disease", "require": ["k=3", "l=2", "t=0.6"]}),
    ("audit", {"qi": ["floor(weight)"], "where": "abs(age) > 20 AND zip = zip", "nulls": "wildcard"}),
    ("profile", {}),
    ("records", {"qi": ["age", "sex", "zip"]}),
    ("lattice", {"qi": ["age", "sex"], "require": ["k=9"], "hierarchies": {"age": {"widths": [2, 4]}}}),
    ("suppress", {"qi": ["age", "sex"], "require": ["k=4"]}),
    ("attack", {"qi": ["age", "zip", "sex"], "sensitive": "disease"}),
]
_TYPES = ("varchar", "text", "int", "bigint", "numeric", "float8", "date", "bool")
_SHADOWS = """
SELECT DISTINCT proname, pg_get_function_identity_arguments(oid) AS arguments, prorettype::regtype::text AS result
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY(%s) AND prokind = 'f' AND provariadic = 0
    AND NOT proargtypes::oid[] && ARRAY['internal', 'cstring', '"any"', 'anyelement', 'anyarray', 'anynonarray',
        'anyenum', 'anyrange', 'anycompatible', 'anycompatiblearray', 'anycompatiblerange', 'record']::regtype[]::oid[]
    AND prorettype::regtype::text NOT IN ('internal', 'cstring', 'trigger', 'anyelement', 'anyarray', 'record')
    AND NOT proretset AND proargmodes IS NULL
"""
_OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||", "~", "~~", "!~~")


def _database(load: Loader) -> None:
    load(
        "shadowed",
        [(20 + i % 7, f"130{i % 5}", "fm"[i % 2], ("flu", "cold", "HIV")[i % 3], i / 8) for i in range(60)],
        ["age", "zip", "sex", "disease", "weight"],
        {"zip": "varchar(5)", "disease": "varchar(9)"},
    )


def _called(ran: Iterable[Executed]) -> set[str]:
    names: set[str] = set()
    for done in (done for done in ran if done.sql):
        tree = sqlglot.parse_one(done.sql, dialect="postgres")
        names |= {call.sql(dialect="postgres").partition("(")[0].lower() for call in tree.find_all(exp.Func)}
    return {name for name in names if name.replace("_", "a").isalnum()}


def _without_times(value: Any) -> Any:
    changing = {"seconds", "time", "started", "finished", "statements", "run", "created", "path", "at", "took"}
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key not in changing}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def _results(url: str) -> tuple[list[Any], set[str]]:
    with connect(url) as engine:
        found = [getattr(sqlaudit, command)("shadowed", db=engine, **options) for command, options in _COMMANDS]
        called = _called(engine.executed)
    return [_without_times(json.loads(json.dumps(one.to_dict(), default=str))) for one in found], called


def _shadow(load: Loader, names: Iterable[str]) -> int:
    """Functions and operators in the schema `hostile` that raise an error; how many there are."""
    load.execute(
        "DROP SCHEMA IF EXISTS hostile CASCADE; CREATE SCHEMA hostile; GRANT USAGE ON SCHEMA hostile TO auditor"
    )
    rows = load.connection.execute(_SHADOWS.encode(), [sorted(names)]).fetchall()
    wanted = [(str(name), str(arguments), str(result)) for name, arguments, result in rows]
    wanted += [(name, one, one) for name in sorted(names) for one in _TYPES]
    made = sum(
        _made(load, f'FUNCTION hostile."{name}"({arguments}) RETURNS {result}') for name, arguments, result in wanted
    )
    for one in _TYPES:
        _made(load, f"FUNCTION hostile.evil({one}, {one}) RETURNS bool")
        for sign in _OPERATORS:
            load.execute(f"CREATE OPERATOR hostile.{sign} (LEFTARG = {one}, RIGHTARG = {one}, FUNCTION = hostile.evil)")
    return made


def _made(load: Loader, head: str) -> bool:
    body = "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a shadow was called'; END $$"
    try:
        load.execute(f"CREATE {head} {body}")
    except psycopg.Error:
        return False
    return True


@pytest.fixture
def hostile_url(load: Loader, postgres_url: str) -> Iterator[str]:
    yield postgres_url + "&options=-csearch_path%3Dhostile,public,pg_catalog"
    load.execute("DROP SCHEMA IF EXISTS hostile CASCADE")


def test_no_function_or_operator_of_others_is_called(load: Loader, postgres_url: str, hostile_url: str) -> None:
    _database(load)
    expected, called = _results(postgres_url)
    made = _shadow(load, called | {"floor", "abs", "min", "max", "count", "sum"})
    assert len(called) >= 15
    assert made >= 60
    with psycopg.connect(hostile_url) as connection, pytest.raises(psycopg.errors.RaiseException):
        connection.execute("SELECT zip = zip FROM public.shadowed")  # what stands on the path is called
    found, again = _results(hostile_url)
    assert found == expected
    assert again == called


@pytest.mark.parametrize("query", ["SELECT hostile.band(age) AS a FROM shadowed", "SELECT age AS a FROM shadowed"])
def test_a_function_is_called_by_its_full_name_and_named(load: Loader, hostile_url: str, query: str) -> None:
    _database(load)
    load.execute(
        "DROP SCHEMA IF EXISTS hostile CASCADE; CREATE SCHEMA hostile; GRANT USAGE ON SCHEMA hostile TO auditor; "
        "CREATE FUNCTION hostile.band(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 10'"
    )
    found = sqlaudit.audit(query=query, qi=["a"], require=["k=5"], db=hostile_url)
    named = [warning.message for warning in found.warnings if warning.code == "function_of_the_database"]
    assert [("hostile.band" in message) for message in named] == ([True] if "band" in query else [])
    assert found.classes.count == (1 if "band" in query else 7)
    with pytest.raises(UsageError, match=r"(?i)no function or operator 'band'"):
        sqlaudit.audit("shadowed", qi=["band(age)"], db=hostile_url)


def test_tables_are_found_where_the_role_would_find_them(load: Loader, hostile_url: str) -> None:
    """The first schema of the path goes before the second, for tables and within queries; a CTE goes before both."""
    _database(load)
    load.execute(
        "DROP SCHEMA IF EXISTS hostile CASCADE; CREATE SCHEMA hostile; "
        "CREATE TABLE hostile.shadowed AS SELECT 1 AS age; "
        "GRANT USAGE ON SCHEMA hostile TO auditor; GRANT SELECT ON hostile.shadowed TO auditor"
    )
    with connect(hostile_url) as engine:
        assert engine.open(Target("shadowed")).sql == '"hostile"."shadowed"'
        for query, rows in [
            ("SELECT age FROM shadowed", [(1,)]),
            ("SELECT age FROM Shadowed AS s", [(1,)]),
            ("SELECT count(*) AS n FROM public.shadowed", [(60,)]),
            ("WITH shadowed AS (SELECT age + 1 AS age FROM shadowed) SELECT age FROM shadowed", [(2,)]),
            ("SELECT (SELECT max(age) FROM shadowed) AS m", [(1,)]),
        ]:
            relation = engine.open(Target(query=query))
            assert engine.run(Statement("rows", "SELECT * FROM " + relation.sql + " AS t")) == rows


_CHANGED = {
    "row_security": "on",
    "search_path": "hostile, public",
    "timezone": "Asia/Kathmandu",
    "datestyle": "SQL, DMY",
    "extra_float_digits": "-5",
    "standard_conforming_strings": "off",
    "intervalstyle": "iso_8601",
    "transform_null_equals": "on",
    "statement_timeout": "1234567",
}


@pytest.fixture
def half_table(load: Loader) -> Iterator[None]:
    changes = " AND ".join(f"set_config('{name}', '{value}', true) IS NOT NULL" for name, value in _CHANGED.items())
    load("half", [(1,), (2,)], ["age"])
    load("sly_rows", [(1,)], ["age"])
    load.execute(
        f"""
        ALTER TABLE half ENABLE ROW LEVEL SECURITY;
        CREATE POLICY halved ON half FOR SELECT USING (age = 1);
        CREATE OR REPLACE VIEW sly AS SELECT age FROM sly_rows WHERE {changes};
        GRANT SELECT ON sly TO auditor;
        """
    )
    yield
    load.execute("DROP TABLE half, sly_rows CASCADE")


@pytest.mark.usefixtures("half_table")
def test_settings_that_a_view_changes_are_made_again(postgres_url: str) -> None:
    names = ", ".join(f"current_setting('{name}')" for name in _CHANGED)
    with connect(postgres_url) as engine:
        before = engine.run(Statement("settings", "SELECT " + names))
        relation = engine.open(Target("sly"))
        assert engine.run(Statement("rows", "SELECT * FROM " + relation.sql)) == [(1,)]
        assert engine.run(Statement("settings", "SELECT " + names)) == before
        engine.run(Statement("rows", "SELECT * FROM " + relation.sql))
        with pytest.raises(PermissionDenied, match="Row-level security"):
            engine.open(Target(query="SELECT age FROM half"))
        engine.run(Statement("rows", "SELECT * FROM " + relation.sql))
        with pytest.raises(PermissionDenied, match="Row-level security"):
            engine.run(Statement("half", "SELECT COUNT(*) FROM public.half"))
        batches = engine.stream(Statement("rows", "SELECT * FROM " + relation.sql))
        assert next(batches) == [(1,)]
        assert engine.run(Statement("settings", "SELECT " + names)) == before
        assert list(batches) == []
