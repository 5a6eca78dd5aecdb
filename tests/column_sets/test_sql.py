"""The SQL of column sets and records: executed as it stands, alike on every engine, without any value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.column_sets import counting
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.result import RecordRisk
from sqlaudit.column_sets.records.search import find_records
from sqlaudit.column_sets.request import ColumnRequest, FindSets, Ratio
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query
from tests.postgres_load import Loader

NAMES = ["zip", "age", "sex", "person"]
ROWS: list[tuple[Any, ...]] = [
    ("13053-s", 28, "f", 1),
    ("13053-s", 28, "m", 2),
    ("13053-s", None, "f", 3),
    ("14850-s", 50, "f", 4),
    ("14850-s", 50, "m", 4),
    ("14850-s", 51, "f", 5),
    (None, 50, "m", 6),
    (None, 51, "m", 6),
    ("13053-s", 28, "f", 7),
]
TAKEN = ["zip", "age", "sex"]
OPENED = Target("sets_of_people")
Found = ColumnSets | RecordRisk


@pytest.fixture(scope="module")
def opened(engine_name: str, request: pytest.FixtureRequest) -> Iterator[tuple[Engine, Relation]]:
    if engine_name == "postgres":
        load: Loader = request.getfixturevalue("load")
        load("sets_of_people", ROWS, NAMES, {"zip": "text", "age": "int", "sex": "text", "person": "int"})
        with connect(request.getfixturevalue("lasting_postgres_url")) as engine:
            yield engine, engine.open(Target(relation="sets_of_people"))
        return
    if engine_name == "spark":
        kinds = dict(zip(NAMES, ["text", "int", "text", "int"], strict=True))
        rows = values_query([dict(zip(NAMES, row, strict=True)) for row in ROWS], kinds)
        spark: Engine = request.getfixturevalue("engine")
        yield spark, spark.open(Target(query=rows, label="sets_of_people"))
        return
    data = pd.DataFrame(ROWS, columns=NAMES).astype({"age": "Int64", "zip": "string", "sex": "string"})
    with connect() as engine:
        yield engine, engine.open(Target(frame=data, label="sets_of_people"))


def searching(request: ColumnRequest, *, entity: str | None = None, effects: bool = False) -> Any:
    def search(engine: Engine, relation: Relation) -> Found:
        asked = replace(request, columns=tuple(TAKEN), entity=entity, effects=effects)
        return find_columns(engine, asked, relation=relation)

    return search


def recording(request: RecordRequest) -> Any:
    return lambda engine, relation: find_records(engine, replace(request, qi=tuple(TAKEN)), relation=relation)


WAYS: dict[str, Callable[[Engine, Relation], Found]] = {
    "violating": searching(ColumnRequest(OPENED, k=2), effects=True),
    "violating_nulls_apart": searching(ColumnRequest(OPENED, k=2, nulls=NullPolicy.DISTINCT)),
    "violating_wildcard": searching(ColumnRequest(OPENED, k=2, nulls=NullPolicy.WILDCARD, max_size=2)),
    "violating_by_person": searching(ColumnRequest(OPENED, k=2), entity="person"),
    "wildcard_by_person": searching(ColumnRequest(OPENED, k=2, nulls=NullPolicy.WILDCARD, max_size=1), entity="person"),
    "identifying": searching(ColumnRequest(OPENED, identifying=True)),
    "identifying_nulls_apart": searching(ColumnRequest(OPENED, identifying=True, nulls=NullPolicy.DISTINCT)),
    "identifying_persons": searching(ColumnRequest(OPENED, identifying=True), entity="person"),
    "nearly_identifying": searching(
        ColumnRequest(OPENED, identifying=True, epsilon=Fraction(1, 5), ratio=Ratio.SEPARATION, find=FindSets.ALL)
    ),
    "records": recording(RecordRequest(OPENED, key=("person",), weights="person", max_size=2, show_values=True, top=3)),
    "records_nulls_apart": recording(RecordRequest(OPENED, max_size=2, nulls=NullPolicy.DISTINCT)),
    "records_wildcard": recording(RecordRequest(OPENED, max_size=1, nulls=NullPolicy.WILDCARD)),
}
SETS = {
    "violating": [("age",), ("zip", "sex")],
    "violating_nulls_apart": [("zip",), ("age",)],
    "identifying": [("zip", "age", "sex")],
}


def statements(engine: Engine, since: int) -> list[str]:
    """The texts of the search that ran; how an engine opens a target is not ours."""
    return [done.sql for done in engine.executed[since:] if done.name.startswith(("columns_", "records_", "row_count"))]


def plain(found: Found) -> Any:
    """An answer without how much work it was, which depends on the engine."""
    data = found.to_dict()
    for key in ("counts", "versions", "engine", "access", "time", "statements"):
        data.pop(key, None)
    return _rounded(data)


def _rounded(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _rounded(item) for key, item in data.items()}
    if isinstance(data, list):
        return [_rounded(item) for item in data]
    return round(data, 12) if isinstance(data, float) else data


ANSWERS: dict[str, dict[str, Any]] = {}


@pytest.mark.parametrize("way", WAYS)
def test_every_statement_runs_and_engines_answer_alike(opened: tuple[Engine, Relation], way: str) -> None:
    engine, relation = opened
    already = len(engine.executed)
    found = WAYS[way](engine, relation)
    texts = statements(engine, already)
    assert texts
    assert not any("13053-s" in text for text in texts)
    assert plain(found) == ANSWERS.setdefault(way, plain(found))
    if isinstance(found, ColumnSets) and way in SETS:
        assert [one.columns for one in found.sets] == SETS[way]


def test_wide_sets_are_kept_word_by_word_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting from the classes of wide sets, which the tables above are too small for."""
    monkeypatch.setattr(counting, "_LEAST_SETS", 2)
    data = pd.DataFrame({name: [i // 2**place % 2 for i in range(400)] for place, name in enumerate("abcd")})
    with connect() as engine:
        found = find_columns(engine, ColumnRequest(Target(frame=data), k=2, effects=False))
        texts = list(dict.fromkeys(done.sql for done in engine.executed if done.name == "columns_cuboid"))
    assert (found.sets, found.border) == ((), (("a", "b", "c", "d"),))
    assert texts == [
        "/* sqlaudit: columns_cuboid */\nSELECT c0, c1, c2, c3, COUNT(*) AS weight\nFROM "
        f"{texts[0].split('FROM ')[1].split()[0]}\nGROUP BY c0, c1, c2, c3"
    ]
