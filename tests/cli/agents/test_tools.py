"""An agent names tables, columns, numbers and words; everything else is refused, and no answer holds a value."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import speaking, spelled
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import Limits, ReadOptions
from sqlaudit.cli.agents.tools import TOOLS, in_a_call
from sqlaudit.cli.agents.worker import _call_tool
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.runner import write_csv
from tests.strategies import run

CALLS: Mapping[str, Mapping[str, Any]] = {
    "profile": {},
    "audit": {"qi": ["age", "zip"], "sensitive": ["illness"], "require": ["k=2", "l=2"], "entity": "who"},
    "columns": {"exclude": ["who"], "k": 2, "effects": True},
    "disclosure": {"qi": ["age"], "sensitive": ["illness"], "knowledge": 3, "threshold": 0.7},
    "persons": {"entity": "who", "qi": ["zip"], "sensitive": ["illness"], "k": 2, "random": 2, "effects": True},
}
HEADER = ("who", "age", "zip", "illness")
ROWS = [(f"mark-{i % 7}", f"mark-{i % 3}", f"mark-z{i % 4}", f"mark-{'abc'[i % 3]}") for i in range(14)]


def asked(tool: str, arguments: Mapping[str, Any], relation: str, db: str | None = None) -> dict[str, Any]:
    """The JSON of a call, as its process makes it."""
    job = {
        "tool": tool,
        "db": db,
        "tables": [["people", relation, asdict(ReadOptions())]],
        "arguments": TOOLS[tool].checked({"table": "people", **arguments}),
        "limits": asdict(Limits()),
    }
    del job["arguments"]["table"]
    result: dict[str, Any] = _call_tool(job, Limits()).to_dict()
    return result


def people(folder: Path, rows: Sequence[Sequence[str]] = ROWS) -> str:
    return str(write_csv(folder / "people.csv", ",".join(HEADER), *(",".join(row) for row in rows)))


def in_a_file(kind: str, folder: Path) -> str:
    """A database of one file with the table."""
    path = folder / f"people.{kind}"
    connection: Any = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))
    connection.execute(f"CREATE TABLE people ({', '.join(f'{name} TEXT' for name in HEADER)})")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
    connection.commit()
    connection.close()
    return str(path)


@pytest.mark.parametrize("tool", CALLS)
def test_no_answer_holds_a_value(tool: str, tmp_path: Path) -> None:
    found = asked(tool, CALLS[tool], people(tmp_path))
    assert not re.search(r"\bmark", json.dumps(found))
    name = found["target"]
    assert (name if isinstance(name, str) else name["name"]) == "people"


BESIDE = (("audit", "checks"), ("persons", "persons"))


@pytest.fixture(scope="module")
def of_the_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the tools answer about the file."""
    csv = people(tmp_path_factory.mktemp("file"))
    return {tool: asked(tool, CALLS[tool], csv)[told] for tool, told in BESIDE}


@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgres"])
def test_a_database_gives_the_same_answers_as_a_file(
    kind: str, tmp_path: Path, of_the_file: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    relation = "people"
    if kind == "postgres":
        relation = request.getfixturevalue("load")("agents_people", ROWS, HEADER)
        db = request.getfixturevalue("postgres_url")
    else:
        db = in_a_file(kind, tmp_path)
    for tool, told in BESIDE:
        here = asked(tool, CALLS[tool], relation, db)
        assert not re.search(r"\bmark", json.dumps(here))
        assert here[told] == of_the_file[tool]


@settings(run(12, some=2), phases=(Phase.explicit, Phase.generate))
@example([0, 2, 1, 3, 4, 5], [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 2), (1, 0, 0, 0)])
@given(st.permutations(range(6)), st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=4, max_size=9))
def test_answers_are_the_same_whatever_the_values_are_called(names: list[int], rows: list[tuple[int, ...]]) -> None:
    """A table whose values are renamed one to one gets the same answer: nothing of a value is in it."""
    import tempfile

    asking = {tool: arguments for tool, arguments in CALLS.items() if tool != "profile"}  # that looks at values' looks
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        before = people(Path(one), [[f"v{value}" for value in row] for row in rows])
        after = people(Path(other), [[f"w{names[value]}" for value in row] for row in rows])
        for tool, arguments in asking.items():
            found = [asked(tool, arguments, path) for path in (before, after)]
            for each in found:
                each.pop("time", None)
                each.pop("statements", None)  # how long each took
            assert found[0] == found[1]


PROBES = [
    "who = 'mark-1'",
    "illness = 'mark-a' AND who = 'mark-1'",
    "(SELECT max(illness) FROM people)",
    "(SELECT content FROM read_text('/etc/passwd'))",
    "read_csv('/etc/passwd')",
    "age || zip",
    "age, zip",
    "*",
    "lower(age)",
    "people.age",
    '"age" ',
    "age; DROP TABLE people",
    "ATTACH '/tmp/x.db'",
]


@pytest.mark.parametrize("probe", PROBES)
def test_a_name_is_a_column_and_no_expression(probe: str, tmp_path: Path) -> None:
    path = people(tmp_path)
    places = [
        ("audit", {"qi": [probe]}),
        ("audit", {"qi": ["age"], "sensitive": [probe]}),
        ("audit", {"qi": ["age"], "identifier": [probe]}),
        ("audit", {"qi": ["age"], "entity": probe}),
        ("columns", {"columns": ["age", probe]}),
        ("columns", {"entity": probe}),
        ("columns", {"find": "greedy", "start": [probe]}),
        ("disclosure", {"qi": ["age", probe], "sensitive": ["illness"]}),
        ("persons", {"entity": probe, "qi": ["zip"]}),
        ("persons", {"entity": "who", "qi": ["zip"], "static": [probe]}),
        ("persons", {"entity": "who", "qi": ["zip"], "sequence": probe}),
    ]
    whole = PROBES.index(probe) % len(places)  # as a whole call, which opens the file again
    asked_of(path, *places[whole])
    relation = Relation(path, tuple(ColumnInfo(name, "VARCHAR", Kind.TEXT) for name in HEADER), path)
    for tool, arguments in places:
        with pytest.raises(UsageError, match="has no column"):
            TOOLS[tool].check_columns(TOOLS[tool].checked({"table": "people", **arguments}), relation, None)


def asked_of(path: str, tool: str, arguments: Mapping[str, Any]) -> None:
    with pytest.raises(UsageError, match="has no column"):
        asked(tool, arguments, path)


@given(st.text(max_size=40))
@run(25, some=25)
def test_no_text_but_a_name_gets_through(text: str) -> None:
    relation = Relation("t", (ColumnInfo("age", "VARCHAR", Kind.TEXT),), "t")
    if text.strip('"').casefold() != "age":
        with pytest.raises(UsageError):
            TOOLS["audit"].check_columns({"qi": [text]}, relation, None)


OTHERS = {
    "where": "who = 'mark-1'",
    "query": "SELECT * FROM '/etc/passwd'",
    "db": "postgresql://elsewhere/db",
    "show_values": True,
    "inputs": {"population": "/etc/passwd"},
    "read": {"all_text": True},
    "limits": {"timeout": 1e9},
    "weights": "age",
    "buckets": {"table": "/etc/passwd"},
    "given": {"people": {}},
    "witness": 3,
    "records": 3,
    "failing_classes_to": "/tmp/x.csv",
    "roles": {},
    "exact_rows": 0,
}


@pytest.mark.parametrize("tool", CALLS)
def test_what_is_not_for_agents_is_refused(tool: str) -> None:
    distances = {"tolerance": {"age": "1"}} if tool == "persons" else {}  # columns has a share of that name
    for name, value in {**OTHERS, **distances}.items():
        with pytest.raises(
            UsageError, match=rf"^{tool} takes no '{name}'\. Agents cannot use conditions, queries, expressions, paths"
        ):
            TOOLS[tool].checked({"table": "people", **CALLS[tool], name: value})


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("audit", {}, "audit needs 'qi'."),
        ("audit", {"qi": "age"}, "qi takes a list of texts."),
        ("audit", {"qi": ["age", 3]}, "qi takes a list of texts, of 1 to 300 characters each."),
        ("audit", {"qi": ["a" * 301]}, "qi takes a list of texts, of 1 to 300 characters each."),
        ("audit", {"qi": ["a"] * 501}, "qi takes 500 names at most."),
        ("audit", {"qi": ["age"], "joint": 1}, "joint takes true or false."),
        ("audit", {"qi": ["age"], "sampling_fraction": float("nan")}, "sampling_fraction takes a number."),
        ("columns", {"k": True}, "k takes a whole number."),
        ("columns", {"k": 2.5}, "k takes a whole number."),
        ("persons", {"entity": "who", "qi": ["zip"], "known": "1..3"}, "known takes a whole number."),
        ("audit", {"table": ["people"], "qi": ["age"]}, "table is the name of a table, as a text."),
    ],
)
def test_another_shape_is_refused(tool: str, arguments: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        TOOLS[tool].checked({"table": "people", **arguments})
    assert str(error.value) == sentence


def test_schemas_hold_what_is_checked() -> None:
    import jsonschema

    for name, tool in TOOLS.items():
        schema = tool.schema(["people"])
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate({"table": "people", **CALLS[name]}, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"table": "others", **CALLS[name]}, schema)
    assert TOOLS["columns"].schema(["a"])["properties"]["nulls"]["enum"] == ["equal", "distinct", "wildcard"]
    assert TOOLS["disclosure"].schema(["a"])["required"] == ["table", "qi", "sensitive"]


def test_fields_are_spelled_as_an_agent_gives_them() -> None:
    with speaking(in_a_call(TOOLS["audit"])):
        assert spelled("qi", "age", "sex") == '"qi": ["age", "sex"]'
        assert spelled("nulls", "equal") == '"nulls": "equal"'
        assert spelled("entity") == '"entity"'
