"""The SQL that an audit runs: executed as it stands on every engine, and without any value of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pytest

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation, Row, Statement
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.classes import histogram
from sqlaudit.classes.facts import Fact, Frame, SensitiveTable
from sqlaudit.classes.failing import ClassRequirement, FailingClasses
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query
from tests.postgres_load import Loader

PATIENTS = [
    {"zip": z, "age": a, "person": p, "disease": d}
    for z, a, p, d in [
        ("13053", 28, 1, "flu"),
        ("13053", 28, 2, "cold"),
        ("13053", None, 3, "flu"),
        ("14850", 50, 4, None),
        ("14850", 50, 4, "flu"),
        ("14850", 50, 5, "HIV"),
        (None, 50, 6, "HIV"),
    ]
]
FACTS = [
    Fact("distinct_values", "distinct_values"),
    Fact("largest", "largest"),
    Fact("head_2", "head", {"j": 2}),
    Fact("equal_distance", "equal_distance"),
    Fact("wide_n", "wide_n"),
]
LEVELS = [("k", "MIN", "size"), ("l", "MIN", "distinct_values"), ("head", "MAX", "head_2")]
VERDICTS = [("few", "distinct_values < 2", "distinct_values = 2")]


class Standalone(Engine):
    """Runs statements as they stand over a table `patients`, and keeps the names of their steps."""

    name = "standalone"

    def __init__(self, dialect: str, run: Any) -> None:
        super().__init__()
        self.dialect = dialect
        self._run = run
        self.steps: set[str] = set()

    def run(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Row]:
        self.steps.add(statement.name)
        return list(self._run(statement))

    def open(self, target: Target) -> Relation:
        raise NotImplementedError

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        raise NotImplementedError

    def explain(self, statement: Statement) -> str:
        raise NotImplementedError

    def version(self) -> str:
        return self.name

    def access(self) -> str:
        return "nothing"

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def standalone(engine_name: str, request: pytest.FixtureRequest) -> Iterator[Standalone]:
    if engine_name == "postgres":
        load: Loader = request.getfixturevalue("load")
        load("patients", PATIENTS)
        with connect(request.getfixturevalue("lasting_postgres_url")) as engine:
            yield Standalone("postgres", lambda statement: engine.run(_in_public(statement)))
        return
    if engine_name == "spark":
        from tests.spark_session import small_engine

        with small_engine() as spark:
            kinds = {"zip": "text", "age": "int", "person": "int", "disease": "text"}
            relation = spark.open(Target(query=values_query(PATIENTS, kinds)))
            spark._session.table(relation.sql).createTempView("patients")
            yield Standalone("spark", spark.run)
        return
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE patients (zip VARCHAR, age BIGINT, person BIGINT, disease VARCHAR)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", [list(row.values()) for row in PATIENTS])
        yield Standalone("duckdb", lambda statement: connection.execute(statement.sql).fetchall())


def _in_public(statement: Statement) -> Statement:
    """An engine of PostgreSQL looks no name up outside of pg_catalog."""
    return Statement(statement.name, statement.sql.replace("FROM patients", "FROM public.patients"))


def answers(engine: Standalone, policy: NullPolicy, entity: str | None) -> dict[str, Any]:
    """Return the answers of every step of an audit."""
    zipcode, age, disease = (quote(name, engine.dialect) for name in ("zip", "age", "disease"))
    person = entity and quote(entity, engine.dialect)
    frame = Frame("patients", (zipcode, age), person, policy is NullPolicy.DISTINCT, (True, False))
    builder = HistogramBuilder(engine, frame, policy)
    shape = builder.shape(disease)
    value_rows = builder.values(disease, True, 100)
    values, totals = tuple(row[0] for row in value_rows), tuple(int(row[1]) for row in value_rows)
    nulls, without_entity = (sum(int(row[column]) for row in value_rows) for column in (2, 3))
    assert (len(value_rows), nulls, without_entity) == (*shape[:2], shape[3])
    table = SensitiveTable("disease", totals, shape[1] > 0, False, True, values)
    histogram = builder.build(disease, table)
    keyed = builder.build(disease, table, keep_keys=True)
    small = (ClassRequirement("small", None, "size < 4"),)
    smallest, total = FailingClasses(keyed, small, tuple(FACTS), ("zip", "age"), (True, False), 2).smallest(3)
    return {
        "shape": shape,
        "values": values,
        "totals": totals,
        "figures": [{k: int(v) for k, v in row.items()} for row in histogram.figures(FACTS, LEVELS, VERDICTS)],
        "vectors": sorted((sorted(v.items()), c, r) for v, c, r in histogram.vectors(FACTS, "size > 1", 100)),
        "histogram": sorted(tuple(map(int, row)) for row in histogram.histogram(FACTS[:2], "size > 1")),
        "failing": [(c.size, c.rows, c.classes, tuple((c.key or {}).values())) for c in smallest],
        "failing_total": total,
    }


FORMS = [
    ("packed", NullPolicy.EQUAL, None),
    ("packed_by_person", NullPolicy.EQUAL, "person"),
    ("packed_nulls_apart", NullPolicy.DISTINCT, None),
    ("cells", NullPolicy.EQUAL, None),
    ("cells_by_person_nulls_apart", NullPolicy.DISTINCT, "person"),
    ("wildcard", NullPolicy.WILDCARD, None),
    ("wildcard_by_person", NullPolicy.WILDCARD, "person"),
]
SIZES = {
    "packed": [(1, 2), (2, 1), (3, 1)],
    "packed_by_person": [(1, 2), (2, 2)],
    "packed_nulls_apart": [(1, 2), (2, 1), (3, 1)],
    "cells": [(1, 2), (2, 1), (3, 1)],
    "cells_by_person_nulls_apart": [(1, 2), (2, 2)],
    "wildcard": [(3, 2), (4, 4), (5, 1)],
    "wildcard_by_person": [(3, 5), (4, 2)],
}


ANSWERS: dict[str, dict[str, Any]] = {}


@pytest.mark.parametrize(("form", "policy", "entity"), FORMS)
def test_every_step_runs_and_engines_answer_alike(
    standalone: Standalone, monkeypatch: pytest.MonkeyPatch, form: str, policy: NullPolicy, entity: str | None
) -> None:
    if form.startswith("cells"):
        monkeypatch.setattr(histogram, "PACKED_VALUES", 0)
    standalone.steps = set()
    own_answers = answers(standalone, policy, entity)
    assert [(row["size"], row["classes"]) for row in own_answers["figures"]] == SIZES[form]
    assert own_answers["values"] == ("HIV", "cold", "flu", None)
    assert len(standalone.steps) == 5
    assert own_answers == ANSWERS.setdefault(form, own_answers)
    assert own_answers["failing_total"] >= len(own_answers["failing"]) > 0


SECRETS = ["Zaphod Beeblebrox", "HIV-positive", "13053-secret", "424242424242", "1977-07-17"]


def secret_rows() -> list[dict[str, Any]]:
    base = {"name": SECRETS[0], "s": SECRETS[1], "zip": SECRETS[2], "number": int(SECRETS[3]), "born": SECRETS[4]}
    other = {"name": "Arthur", "s": "flu", "zip": "1", "number": 1, "born": "2000-01-01"}
    return [base, base, {**base, "zip": None}, other, {**other, "s": None}, {**base, "s": "cold"}]


@pytest.fixture(scope="module")
def audit_secrets(engine_name: str, request: pytest.FixtureRequest) -> Any:
    """`audit_secrets(…)` audits the table of secrets, a real one on PostgreSQL and a frame elsewhere."""
    if engine_name == "postgres":
        name = request.getfixturevalue("load")("secrets", secret_rows())
        url = request.getfixturevalue("postgres_url")
        return lambda **options: sqlaudit.audit(name, db=url, **options)
    import pandas as pd

    if engine_name == "spark":
        engine = request.getfixturevalue("engine")
        return lambda **options: sqlaudit.audit(pd.DataFrame(secret_rows()), db=engine, **options)
    return lambda **options: sqlaudit.audit(pd.DataFrame(secret_rows()), **options)


@pytest.mark.parametrize(
    ("form", "nulls", "entity"),
    [
        (0, "equal", "name"),
        pytest.param(48, "equal", "name", marks=pytest.mark.all_cases),
        *(
            pytest.param(form, nulls, entity, marks=marks)
            for marks, form, nulls, entity in [
                # each form, with and without persons, with each policy
                ((), 48, "equal", None),
                ((), 48, "distinct", "name"),
                ((), 0, "distinct", None),
                ((), 48, "wildcard", "name"),
                ((), 0, "wildcard", None),
                *(([pytest.mark.all_cases], *which) for which in [(0, "equal", None), (48, "distinct", None)]),
                *(([pytest.mark.all_cases], *which) for which in [(0, "distinct", "name"), (48, "wildcard", None)]),
                ([pytest.mark.all_cases], 0, "wildcard", "name"),
            ]
        ),
    ],
)
def test_no_statement_holds_a_value(
    audit_secrets: Any, monkeypatch: pytest.MonkeyPatch, form: int, nulls: str, entity: str | None
) -> None:
    monkeypatch.setattr(histogram, "PACKED_VALUES", form)
    required = (
        ["k=3", "l=2"] if nulls == "wildcard" else ["k=3", "l=2", "entropy_l=2", "t=0.1", "t_ordered=0", "beta=0"]
    )
    requests: Sequence[dict[str, Any]] = [
        {"qi": ["zip", "born"], "sensitive": ["s", "number"], "require": [r for r in required if "ordered" not in r]},
        {"qi": ["zip", "s"], "sensitive": "number", "require": required, "show_values": True},
        {"qi": ["zip"], "sensitive": "s", "joint": True},
    ]
    for request in requests:
        # An attacker who knows all rows cannot be judged where NULL matches any value
        known_rows = "one" if entity and nulls == "wildcard" else "worse"
        result: AuditResult = audit_secrets(nulls=nulls, entity=entity, known_rows=known_rows, **request)
        texts = "\n".join(timing.sql for timing in result.statements)
        assert texts.count("SELECT") > 3
        outputs = texts if request.get("show_values") else texts + repr(result) + str(result.to_dict())
        for secret in SECRETS:
            assert secret not in outputs
