"""The PostgreSQL engine on a real server: targets, kinds, values, arrays, streams."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import Limits, ReadOptions, Target
from sqlaudit.engines.contract import Executed
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.postgres_load import Loader

pytestmark = pytest.mark.postgres

PATIENTS = [(30, "f", "flu"), (30, "f", "cold"), (41, "m", None)]


def ask(url: str, sql: str) -> list[tuple[Any, ...]]:
    with PostgresEngine(url) as engine:
        return engine.run(Statement("step", sql))


def test_opens_a_table_and_counts_its_classes(load: Loader, postgres_url: str) -> None:
    load("patients", PATIENTS, ["age", "sex", "disease"])
    with PostgresEngine(postgres_url) as engine:
        relation = engine.open(Target("patients"))
        assert [(c.name, c.type, c.kind) for c in relation.columns] == [
            ("age", "bigint", Kind.INTEGER),
            ("sex", "text", Kind.TEXT),
            ("disease", "text", Kind.TEXT),
        ]
        assert (relation.sql, relation.label, relation.tables) == (
            '"public"."patients"',
            "patients",
            ("public.patients",),
        )
        counted = Statement("classes", "SELECT age, COUNT(*) AS n FROM " + relation.sql + " GROUP BY age ORDER BY age")
        assert engine.run(counted) == [(30, 2), (41, 1)]
        assert list(engine.stream(counted, 1)) == [[(30, 2)], [(41, 1)]]
        assert engine.result_names(counted) == ["age", "n"]


def test_loads_rows_dicts_frames_and_csv_files(load: Loader, tmp_path: Any, postgres_url: str) -> None:
    frame = pd.DataFrame({"age": [30, 41], "weight": [1.5, math.nan], "sex": ["f", None]})
    assert load("loaded_frame", frame) == '"public"."loaded_frame"'
    (tmp_path / "t.csv").write_text("age,sex,born\n30,female,2020-01-31\n41,,\n")
    load("loaded_csv", tmp_path / "t.csv")
    load("loaded_dicts", [{"age": 30, "wide": 2**70}, {"age": None, "wide": 1}])
    load("loaded_typed", [("7",), (None,)], ["small"], {"small": "smallint"})
    assert ask(postgres_url, "SELECT age, weight, sex FROM public.loaded_frame ORDER BY age")[0] == (30, 1.5, "f")
    assert ask(postgres_url, "SELECT * FROM public.loaded_csv ORDER BY age") == [
        (30, "female", dt.date(2020, 1, 31)),
        (41, None, None),
    ]
    assert ask(postgres_url, "SELECT * FROM public.loaded_dicts ORDER BY wide") == [(None, 1), (30, 2**70)]
    assert ask(postgres_url, "SELECT * FROM public.loaded_typed ORDER BY small") == [(7,), (None,)]


def test_every_type_has_a_kind(load: Loader, postgres_url: str) -> None:
    load.execute(
        """
        DROP TABLE IF EXISTS every_type; DROP TYPE IF EXISTS mood; DROP DOMAIN IF EXISTS zip5, zip CASCADE;
        CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN zip AS text;
        CREATE DOMAIN zip5 AS zip CHECK (length(value) = 5);
        CREATE TABLE every_type (
            b boolean, i2 smallint, i4 int, i8 bigint, n numeric, n2 numeric(10,2), f4 real, f8 double precision,
            t text, v varchar(5), c char(3), d date, ts timestamp(3), tz timestamptz, ti time, ttz timetz, u uuid,
            m mood, z zip5, a int[], r daterange, jb jsonb, mo money, by bytea, ip inet, iv interval, bits bit(3));
        GRANT SELECT ON every_type TO auditor"""
    )
    with PostgresEngine(postgres_url) as engine:
        relation = engine.open(Target("every_type"))
    assert relation.sql == '"public"."every_type"'
    assert {c.name: (c.type, c.kind.value) for c in relation.columns} == {
        "b": ("boolean", "boolean"),
        "i2": ("smallint", "integer"),
        "i4": ("integer", "integer"),
        "i8": ("bigint", "integer"),
        "n": ("numeric", "decimal"),
        "n2": ("numeric(10,2)", "decimal"),
        "f4": ("real", "float"),
        "f8": ("double precision", "float"),
        "t": ("text", "text"),
        "v": ("character varying(5)", "text"),
        "c": ("character(3)", "text"),
        "d": ("date", "date"),
        "ts": ("timestamp(3) without time zone", "timestamp"),
        "tz": ("timestamp with time zone", "timestamp"),
        "ti": ("time without time zone", "time"),
        "ttz": ("time with time zone", "time"),
        "u": ("uuid", "text"),
        "m": ("public.mood", "text"),
        "z": ("text", "text"),
        "a": ("integer[]", "other"),
        "r": ("daterange", "other"),
        "jb": ("jsonb", "other"),
        "mo": ("money", "other"),
        "by": ("bytea", "other"),
        "ip": ("inet", "other"),
        "iv": ("interval", "other"),
        "bits": ("bit(3)", "other"),
    }


def test_types_without_equality_are_read_as_text(load: Loader, postgres_url: str) -> None:
    load(
        "documents",
        [(1, '{"a": 1}', "(1,2)"), (2, '{"a": 1}', "(1,2)")],
        ["id", "doc", "place"],
        {"doc": "json", "place": "point"},
    )
    with PostgresEngine(postgres_url) as engine:
        relation = engine.open(Target("documents", where="id > 0"))
        assert relation.sql == (
            '(SELECT "id", CAST("doc" AS TEXT) AS "doc", CAST("place" AS TEXT) AS "place" FROM "public"."documents" '
            "WHERE id > 0)"
        )
        grouped = "SELECT doc, place, COUNT(*) FROM " + relation.sql + " AS t GROUP BY doc, place"
        assert engine.run(Statement("classes", grouped)) == [('{"a": 1}', "(1,2)", 2)]
        queried = engine.open(Target(query="SELECT doc FROM documents"))
        assert queried.sql == (
            '(SELECT CAST("doc" AS TEXT) AS "doc" FROM (SELECT doc FROM "public".documents) AS target)'
        )
        assert [c.kind for c in queried.columns] == [Kind.OTHER]


def test_values_are_the_same_whatever_the_role_is_set_to(load: Loader, postgres_url: str) -> None:
    row = ask(
        postgres_url,
        """SELECT SUM(x::bigint), 12345678901234567890123::numeric, 1.50::numeric, 0.1::float8 + 0.2, 'NaN'::float8,
           DATE '2020-01-31', DATE 'infinity', TIMESTAMP '20000-01-01 00:00', TIME '24:00', INTERVAL '1 month 2 days',
           TIMESTAMPTZ '2020-01-01 05:00+05', '{"a": 1}'::json, ARRAY[1.0, 2]::numeric[], 'a\\b', 'x'::bytea,
           '123e4567-e89b-12d3-a456-426614174000'::uuid, int4range(1, 3), 1234.5::numeric::money, NULL::int
           FROM generate_series(1, 3) AS x""",
    )[0]
    assert row[:4] == (6, 12345678901234567890123, Decimal("1.50"), 0.30000000000000004)
    assert (type(row[0]), type(row[1]), math.isnan(row[4])) == (int, int, True)
    assert row[5:10] == (dt.date(2020, 1, 31), "infinity", "20000-01-01 00:00:00", "24:00:00", "1 mon 2 days")
    assert row[10:15] == (dt.datetime(2020, 1, 1, tzinfo=dt.UTC), '{"a": 1}', [Decimal("1.0"), 2], "a\\b", b"x")
    assert row[15:] == (uuid.UUID("123e4567-e89b-12d3-a456-426614174000"), "[1,3)", "$1,234.50", None)


def test_columns_as_arrays_are_exact(postgres_url: str) -> None:
    sql = """SELECT x AS i, x / 2.0::float8 AS f, x::numeric AS n, x * 10::numeric ^ 18 AS wide, x::numeric / 4 AS part,
             NULLIF(x, 2) AS gap, 'v' || x AS t FROM generate_series(1, 20, 1) AS x WHERE x < 3 OR x = 20 ORDER BY x"""
    with PostgresEngine(postgres_url) as engine:
        arrays = engine.columns_as_arrays(Statement("arrays", sql))
        empty = engine.columns_as_arrays(Statement("arrays", "SELECT 1 AS a, 'x' AS b WHERE FALSE"))
    assert {name: array.dtype for name, array in arrays.items()} == {
        "i": np.int64,
        "f": np.float64,
        "n": np.int64,
        "wide": np.dtype(object),
        "part": np.dtype(object),
        "gap": np.int64,
        "t": np.dtype(object),
    }
    assert arrays["i"].tolist() == [1, 2, 20]
    assert arrays["f"].tolist() == [0.5, 1.0, 10.0]
    assert arrays["wide"].tolist() == [10**18, 2 * 10**18, 20 * 10**18]
    assert arrays["part"].tolist() == [Decimal("0.25"), Decimal("0.5"), Decimal(5)]
    assert arrays["gap"].tolist() == [1, None, 20]
    assert arrays["t"].tolist() == ["v1", "v2", "v20"]
    assert {name: (len(array), array.dtype) for name, array in empty.items()} == {
        "a": (0, np.int64),
        "b": (0, np.dtype(object)),
    }


def test_a_condition_restricts_tables_and_queries(load: Loader, postgres_url: str) -> None:
    load("patients", PATIENTS, ["age", "sex", "disease"])
    with PostgresEngine(postgres_url) as engine:
        table = engine.open(Target("patients", where="age < 40 AND disease IS NOT NULL OR sex = 'x'"))
        query = engine.open(Target(query="SELECT age + 1 AS next FROM patients -- a comment", where="next > 40"))
        assert engine.run(Statement("rows", "SELECT COUNT(*) FROM " + table.sql + " AS t")) == [(2,)]
        assert engine.run(Statement("rows", "SELECT next FROM " + query.sql + " AS t")) == [(42,)]
        assert (query.label, query.tables) == ("query", ("patients",))
        with pytest.raises(UsageError, match=r"^The types in where= do not fit near 'age'\.$"):
            engine.open(Target("patients", where="age"))
        with pytest.raises(UsageError, match=r"^There is no column 'agee' in where=\. Did you mean 'age'\?$"):
            engine.open(Target("patients", where="agee > 3"))
        with pytest.raises(UsageError, match=r"^There is no column 'agee' in query=\. Did you mean 'age'\?$"):
            engine.open(Target(query="SELECT p.agee FROM patients AS p"))
        with pytest.raises(UsageError, match=r"^There is no table 'patient' in query=\. Did you mean 'patients'\?$"):
            engine.open(Target(query="SELECT 1 AS one FROM patient"))
        with pytest.raises(
            UsageError, match=r"^query= has several columns named 'age'. Give each its own name \(AS\)\.$"
        ):
            engine.open(Target(query="SELECT age, age FROM patients"))
        with pytest.raises(UsageError, match=r"^query takes one SELECT, not a DELETE statement\.$"):
            engine.open(Target(query="DELETE FROM patients"))


def test_what_belongs_to_other_engines_is_refused(load: Loader, postgres_url: str) -> None:
    load("patients", PATIENTS, ["age", "sex", "disease"])
    with PostgresEngine(postgres_url) as engine:
        with pytest.raises(UsageError, match=r"^A frame cannot be audited in PostgreSQL: leave out db\.$"):
            engine.open(Target(frame=pd.DataFrame({"a": [1]})))
        with pytest.raises(UsageError, match=r"^Options for reading files do not apply to PostgreSQL"):
            engine.open(Target("patients", read=ReadOptions(null_values=("?",))))
        with pytest.raises(NotImplementedError):
            engine.materialize("t", Statement("t", "SELECT 1"))
    with pytest.raises(
        UsageError, match=r"^limits=Limits\(temp_directory=…\) does not apply to PostgreSQL: the server spills into its"
    ):
        PostgresEngine(postgres_url, Limits(temp_directory="/tmp"))


def test_streams_lets_other_statements_run_and_closes_its_cursor(postgres_url: str) -> None:
    numbers = Statement("numbers", "SELECT x FROM generate_series(1, 5) AS x")
    cursors = Statement("cursors", "SELECT COUNT(*) FROM pg_cursors WHERE name LIKE 'sqlaudit%'")
    with PostgresEngine(postgres_url) as engine:
        first, second = engine.stream(numbers, 2), engine.stream(numbers, 4)
        assert next(first) == [(1,), (2,)]
        assert next(second) == [(1,), (2,), (3,), (4,)]
        assert engine.run(cursors) == [(2,)]
        assert list(first) == [[(3,), (4,)], [(5,)]]
        second.close()  # type: ignore[attr-defined]
        assert engine.run(cursors) == [(0,)]


def test_notes_what_ran_and_tells_tracer_and_progress(load: Loader, postgres_url: str) -> None:
    load("patients", PATIENTS, ["age", "sex", "disease"])
    traced: list[Executed] = []
    progress: list[tuple[str, float | None]] = []
    with PostgresEngine(postgres_url) as engine:
        engine.tracer, engine.progress = traced.append, lambda step, share: progress.append((step, share))
        engine.open(Target("patients"))
        engine.run(Statement("totals", "/* sqlaudit: totals */\nSELECT COUNT(*) FROM public.patients"))
        plan = engine.explain(Statement("totals", "/* sqlaudit: totals */\nSELECT COUNT(*) FROM public.patients"))
    assert [done.name for done in traced] == ["totals"]
    assert traced == engine.executed
    assert traced[0].seconds is not None
    assert traced[0].seconds > 0
    assert progress == [("totals", None)]
    assert plan.splitlines()[0].startswith("Aggregate")
    assert "Seq Scan on patients" in plan


def test_every_statement_sees_one_snapshot(load: Loader, postgres_url: str) -> None:
    load("patients", PATIENTS, ["age", "sex", "disease"])
    count = Statement("count", "SELECT COUNT(*) FROM public.patients")
    with PostgresEngine(postgres_url) as engine:
        load.execute("INSERT INTO patients VALUES (99, 'm', 'flu')")
        assert engine.run(count) == [(3,)]
        with pytest.raises(UsageError):
            engine.run(Statement("wrong", "SELECT nothing FROM public.patients"))
        assert engine.run(count) == [(3,)]
    assert ask(postgres_url, count.sql) == [(4,)]
