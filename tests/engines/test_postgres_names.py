"""Names in PostgreSQL: schemas, quotes, letters, Unicode, reserved words, the search path, and close matches."""

from __future__ import annotations

import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.postgres.engine import PostgresEngine
from sqlaudit.engines.postgres.open import split_name
from tests.postgres_load import Loader
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.postgres


def refused(engine: PostgresEngine, name: str) -> str:
    with pytest.raises(UsageError) as caught:
        engine.open(Target(name))
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_splits_dotted_names() -> None:
    def parts(text: str) -> list[tuple[str, bool]]:
        return [(part.text, part.quoted) for part in split_name(text)]

    assert parts("patients") == [("patients", False)]
    assert parts('clinic."Odd ""name"".x"') == [("clinic", False), ('Odd "name".x', True)]
    assert parts('"a.b"."c"') == [("a.b", True), ("c", True)]
    assert parts('"unclosed.name') == [('"unclosed.name', False)]
    assert parts('"a"b.c') == [('"a"b.c', False)]
    assert parts("a..b") == [("a..b", False)]


NAMES = ["select", "Odd Name", "ÄrzteΩ表", "a.b", 'with "quotes"', "semi;colon--", "emoji 🙂", "UPPER", "it's"]


@pytest.mark.parametrize("name", NAMES)
def test_opens_tables_and_columns_whatever_they_are_called(load: Loader, postgres_url: str, name: str) -> None:
    load(name, [(1, "x"), (1, "y")], [name, "order"], schema="odd schema")
    load(name, [(2, "x")], [name, "order"])
    escaped = name.replace('"', '""')
    with PostgresEngine(postgres_url) as engine:
        for written, total in [
            (name, 2),
            (f'"{escaped}"', 2),
            (f'public."{escaped}"', 2),
            (f'"odd schema"."{escaped}"', 1),
            (f'clinic."odd schema"."{escaped}"', 1),
        ]:
            relation = engine.open(Target(written))
            assert [c.name for c in relation.columns] == [name, "order"]
            sums = 'SELECT SUM("' + escaped + '"), COUNT("order") FROM ' + relation.sql
            assert engine.run(Statement("sum", sums))[0][0] == 2
            assert relation.tables == (("public." if total == 2 else "odd schema.") + name,)


def test_takes_the_exact_name_first_and_other_letters_second(load: Loader, postgres_url: str) -> None:
    for name in ("Visits", "visits", "Wards", "BEDS", "beds"):
        load(name, [(name,)], ["name"])
    with PostgresEngine(postgres_url) as engine:
        opened = {name: engine.open(Target(name)).tables[0] for name in ("Visits", "visits", "wards", "WARDS")}
        assert opened == {
            "Visits": "public.Visits",
            "visits": "public.visits",
            "wards": "public.Wards",
            "WARDS": "public.Wards",
        }
        assert engine.open(Target("PUBLIC.wards")).tables == ("public.Wards",)
        assert engine.open(Target("CLINIC.public.wards")).tables == ("public.Wards",)
        assert refused(engine, '"wards"') == (
            "There is no table or view '\"wards\"' in the database 'clinic'. Did you mean 'Wards'?"
        )
        assert (
            refused(engine, "Beds")
            == "'Beds' may be several tables. Write one of 'public.BEDS' or 'public.beds' exactly."
        )


def test_an_unqualified_name_means_the_one_on_the_search_path(
    load: Loader, postgres_url: str, postgres_server: PostgresServer
) -> None:
    load("shared_name", [(1,)], ["n"], schema="wing_a")
    load("shared_name", [(2,)], ["n"], schema="wing_b")
    load("only_there", [(3,)], ["n"], schema="wing_b")
    with PostgresEngine(postgres_url) as engine:
        assert refused(engine, "shared_name") == (
            "No table 'shared_name' is on the search path. Write 'wing_a.shared_name' or 'wing_b.shared_name'."
        )
        assert (
            refused(engine, "Only_There") == "No table 'Only_There' is on the search path. Write 'wing_b.only_there'."
        )
    load.execute("ALTER ROLE auditor SET search_path = wing_b, wing_a")
    try:
        with PostgresEngine(postgres_server.url()) as engine:
            assert engine.open(Target("shared_name")).tables == ("wing_b.shared_name",)
            assert engine.open(Target("wing_a.shared_name")).tables == ("wing_a.shared_name",)
    finally:
        load.execute("ALTER ROLE auditor RESET search_path")


def test_an_unknown_name_gets_the_closest_one(load: Loader, postgres_url: str) -> None:
    load("admissions", [(1,)], ["n"])
    load("discharges", [(1,)], ["n"], schema="ward")
    with PostgresEngine(postgres_url) as engine:
        where = "in the database 'clinic'."
        assert refused(engine, "admisions") == (
            f"There is no table or view 'admisions' {where} Did you mean 'admissions'?"
        )
        assert refused(engine, "ward.discharge") == (
            f"There is no table or view 'ward.discharge' {where} Did you mean 'ward.discharges'?"
        )
        assert refused(engine, "otherdb.public.admissions") == (
            f"There is no table or view 'otherdb.public.admissions' {where} Did you mean 'public.admissions'?"
        )
        assert refused(engine, "zzzzzzzzzzzz") == f"There is no table or view 'zzzzzzzzzzzz' {where}"


def test_views_partitions_and_materialized_views_are_read_like_tables(load: Loader, postgres_url: str) -> None:
    load.execute(
        """
        DROP SCHEMA IF EXISTS shapes CASCADE; CREATE SCHEMA shapes; SET search_path = shapes;
        CREATE TABLE parent (year int, sex text) PARTITION BY RANGE (year);
        CREATE TABLE part_1 PARTITION OF parent FOR VALUES FROM (2000) TO (2010);
        CREATE TABLE part_2 PARTITION OF parent FOR VALUES FROM (2010) TO (2020);
        INSERT INTO parent VALUES (2001, 'f'), (2011, 'm'), (2012, 'f');
        CREATE VIEW plain AS SELECT * FROM parent WHERE sex = 'f';
        CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM parent WHERE sex = 'm';
        CREATE MATERIALIZED VIEW kept AS SELECT year FROM parent;
        CREATE TABLE empty (a int);
        GRANT USAGE ON SCHEMA shapes TO auditor;
        GRANT SELECT ON parent, plain, barrier, kept, empty TO auditor; RESET search_path"""
    )
    with PostgresEngine(postgres_url) as engine:
        counts = {}
        for name in ("parent", "plain", "barrier", "kept", "empty"):
            relation = engine.open(Target("shapes." + name))
            counts[name] = engine.run(Statement("rows", "SELECT COUNT(*) FROM " + relation.sql))[0][0]
    assert counts == {"parent": 3, "plain": 2, "barrier": 1, "kept": 3, "empty": 0}
