"""What an option takes, and its bounds, are the same in Python and on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.audits.request import AuditRequest
from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.options import FLAG, MOST, MOST_SECONDS, RANGE, SECONDS, SHARE, WHOLE, Option, all_options_of
from sqlaudit.base.spec import Limits, ReadOptions, Roles
from sqlaudit.cli.agents.tools import TOOLS, AgentTool
from sqlaudit.cli.group import on_the_command_line
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.gates import column_limits, reading, release_limits, tables
from sqlaudit.gates.cell_limits import CELL_KEYS
from sqlaudit.gates.keys import Keys
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.tabular.request import AggregatesRequest
from tests.cli.runner import run

PEOPLE = pd.DataFrame(
    {
        "id": range(24),
        "age": [20 + row % 3 for row in range(24)],
        "sex": ["f", "m"] * 12,
        "dx": list("abcd") * 6,
        "x": [float(row % 5) for row in range(24)],
        "time": pd.date_range("2020-01-01", periods=24, freq="min"),
    }
)
KNOWN = {"qi": "age,sex"}
CALLS: Mapping[str, Mapping[str, Any]] = {
    "aggregates": {"by": "age,sex", "microdata": True, "require": "threshold=2"},
    "attack": {**KNOWN, "sensitive": "dx"},
    "audit": {**KNOWN, "sensitive": "dx"},
    "cloak": {"user": "id", "x": "x", "y": "x", "time": "time", "k": 2, "box": 5, "interval": 60},
    "columns": {},
    "compare": {"release": PEOPLE, **KNOWN, "key": "id"},
    "cube": {"dimensions": "age,sex", "require": "threshold=2"},
    "disclosure_curve": {**KNOWN, "sensitive": "dx"},
    "lattice": {**KNOWN, "require": "k=2"},
    "persons": {"entity": "id", "qi": "age"},
    "profile": {},
    "recode": {**KNOWN, "require": "k=2"},
    "records": KNOWN,
    "releases": {"entity": "id", "qi": "age", "sensitive": "dx"},
    "suppress": {**KNOWN, "require": "k=2"},
}
NUMBERS = {WHOLE.name: 1, RANGE.name: 1, MOST.name: 1, SECONDS.name: 1, SHARE.name: 0.01}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bounds") / "people.csv"
    PEOPLE.to_csv(file, index=False)
    return file


def outside(one: Option) -> Iterator[Any]:
    """Return values that the option does not take."""
    yield from ("x", True, float("nan"), float("inf"), [1])
    step = NUMBERS[one.kind.name]
    if one.kind.name in (WHOLE.name, RANGE.name, MOST.name):
        yield 2.5
    if one.kind is SECONDS:
        yield from (-1, -0.5, MOST_SECONDS + 1)
    yield from (bound - step for bound in [one.least] if bound is not None)
    yield from (bound + step for bound in [one.most] if bound is not None)
    yield from (bound for bound in (one.above, one.below) if bound is not None)


def refused() -> Iterator[Any]:
    """Return the function, parameter and value of each call that is to be refused."""
    for name, needed in CALLS.items():
        function = getattr(sqlaudit, name)
        for one in function.options().values():
            if one.kind.name in NUMBERS and one.name in function.__signature__.parameters and one.name not in needed:
                yield pytest.param(name, one, id=f"{name}-{one.name}")


@pytest.mark.parametrize(("name", "one"), list(refused()))
def test_a_number_out_of_its_bounds_is_refused_in_python(name: str, one: Option) -> None:
    target: Any = [PEOPLE, PEOPLE] if name == "releases" else PEOPLE
    for value in outside(one):
        with pytest.raises(UsageError, match=rf"{one.name}="):
            getattr(sqlaudit, name)(target, **{**CALLS[name], one.name: value})


@pytest.mark.parametrize(("name", "one"), list(refused()))
def test_a_number_out_of_its_bounds_is_refused_on_the_command_line(name: str, one: Option, people: Path) -> None:
    command = "disclosure" if name == "disclosure_curve" else name
    flag, needed = (one.flags or (on_the_command_line(one.name, ()),))[0], dict(CALLS[name])
    tables = [people, people] if needed.pop("release", None) is not None or name == "releases" else [people]
    options = [
        word
        for field, value in needed.items()
        for word in ([on_the_command_line(field, ())] if value is True else [on_the_command_line(field, ()), value])
    ]
    for value in outside(one):
        if not isinstance(value, bool | list):  # which no text is
            ran = run(command, *tables, *options, f"{flag}={value}")
            assert (ran.code, flag in ran.err, "No such option" in ran.err) == (2, True, False), (value, ran.err)


SECTIONS: Mapping[str, tuple[type[Any], Keys, str]] = {
    "table": (AuditRequest, reading.TABLE, "{place}  {key}: {value}\n  requirements: [k=2]\n"),
    "read": (ReadOptions, tables.READ_KEYS, "{place}  read: {{{key}: {value}}}\n  requirements: [k=2]\n"),
    "column_sets": (
        ColumnRequest,
        column_limits.COLUMN_KEYS,
        "{place}  requirements: [k=2,\n    column_sets: {{{needed}{key}: {value}}}]\n",
    ),
    "synthetic": (
        CompareRequest,
        release_limits.SYNTHETIC_KEYS,
        "{place}  requirements: [k=2,\n    synthetic: {{original: r, require: disco=5%, {key}: {value}}}]\n",
    ),
    "loss": (
        CompareRequest,
        release_limits.LOSS_KEYS,
        "{place}  requirements: [k=2,\n    loss: {{original: r, measure: entropy, at_most: 1, {key}: {value}}}]\n",
    ),
    "aggregates": (
        AggregatesRequest,
        CELL_KEYS,
        "{place}  requirements: [k=2,\n    aggregates: {{by: age, count: x, require: threshold=5, {key}: {value}}}]\n",
    ),
}
"""The request behind each section of a policy, the section's keys, and a table with one of them."""
KEYS = {"tolerance": "share"}
"""The keys that are not called like their option."""
WRITTEN = {"nan": ".nan", "inf": ".inf", "True": "true"}
"""How YAML writes values."""


def in_policies() -> Iterator[Any]:
    """Return the section, key and option of each number that a policy has."""
    for section, (request, keys, _) in SECTIONS.items():
        for one in all_options_of(request):
            if one.kind.name in NUMBERS and (key := KEYS.get(one.name, one.name)) in keys:
                yield pytest.param(section, key, one, id=f"{section}-{key}")


@pytest.mark.parametrize(("section", "key", "one"), list(in_policies()))
def test_a_number_out_of_its_bounds_is_refused_in_a_policy(
    section: str, key: str, one: Option, people: Path, tmp_path: Path
) -> None:
    place = f"version: 1\ntables:\n- file: {people}\n  quasi_identifiers: [age, sex]\n  sensitive: dx\n"
    needed = "" if key == "max_size" else "max_size: 2, "
    file = tmp_path / "sqlaudit.yml"
    for value in outside(one):
        written = WRITTEN.get(str(value), str(value))
        text = SECTIONS[section][2].format(place=place, key=key, value=written, needed=needed)
        file.write_text(text, encoding="utf-8")
        line = next(number for number, words in enumerate(text.splitlines(), 1) if f"{key}: {written}" in words)
        policy = reading.load_policy(file)
        (table,) = policy.tables
        mistakes = [(mistake.place.line, mistake.message) for mistake in (*policy.mistakes, *table.mistakes)]
        mistakes += [(test.place.line, test.mistake) for test in table.tests if test.mistake]
        assert {place for place, _ in mistakes} == {line}, (key, value, mistakes)


def test_the_numbers_of_a_policy_are_walked() -> None:
    walked = {(*parameter.values[:2],) for parameter in in_policies()}
    assert walked == {
        ("table", "sampling_fraction"),
        ("table", "population_size"),
        ("read", "skip"),
        ("column_sets", "max_size"),
        ("column_sets", "k"),
        ("column_sets", "share"),
        ("synthetic", "known"),
    }


def of_agents() -> Iterator[Any]:
    """Return the tool and option of each number that an agent may give."""
    for tool in TOOLS.values():
        shapes = tool.schema([])["properties"]
        for name, one in tool.options.items():
            if shapes[name]["type"] in ("integer", "number"):
                yield pytest.param(tool, one, id=f"{tool.name}-{name}")


@pytest.mark.parametrize(("tool", "one"), list(of_agents()))
def test_a_number_that_python_refuses_is_refused_of_an_agent(tool: AgentTool, one: Option) -> None:
    columns = {"qi": ["age", "sex"], "sensitive": ["dx"], "entity": "id"}
    needed = {name: columns[name] for name in tool.needed}
    values = ["x", True, float("nan"), float("inf"), [1], -1, 10**9]
    for value in outside(one) if one.kind.name in NUMBERS else values:
        given = {**needed, one.name: value}
        python = is_refused(lambda given: getattr(sqlaudit, tool.function)(PEOPLE, **given), given)
        assert python or one.kind.name not in NUMBERS, value
        assert is_refused(lambda given: call_tool(tool, given), given) or not python, value


def call_tool(tool: AgentTool, given: Mapping[str, Any]) -> Any:
    """Call a tool as its server does, about a frame."""
    arguments = tool.checked({"table": "people", **given})
    del arguments["table"]
    return tool.call(None, PEOPLE, arguments)  # type: ignore[arg-type]


def is_refused(call: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any]) -> bool:
    """Return True if a call with these arguments is refused."""
    try:
        call(given)
    except SqlauditError:
        return True
    return False


@pytest.mark.parametrize("name", CALLS)
def test_none_is_refused_where_it_stands_for_nothing(name: str) -> None:
    """Shares, numbers and words with another default, and what must be given."""
    target: Any = [PEOPLE, PEOPLE] if name == "releases" else PEOPLE
    function = getattr(sqlaudit, name)
    for one in list(function.options().values()):
        if one.refuses_none and one.name in function.__signature__.parameters and not one.positional:
            with pytest.raises(UsageError, match=rf"^{one.name}(=| is missing)"):
                function(target, **{**CALLS[name], one.name: None})


def test_numbers_of_classes_are_refused_alike_on_both_edges(tmp_path: Any) -> None:
    file = tmp_path / "people.csv"
    PEOPLE.to_csv(file, index=False)
    for option, name, values in (("worst-classes", "worst_classes", (11, -1)), ("failing-classes", "", (-1,))):
        for value in values:
            assert run("audit", file, "--qi", "age", f"--{option}", value).code == 2
            with pytest.raises(UsageError):
                sqlaudit.audit(PEOPLE, qi="age", **{name or "failing_classes": value})
    few = sqlaudit.audit(PEOPLE, qi="id", sensitive="dx", require=["k=2", "l=2"], failing_classes=0, worst_classes=None)
    assert (few.failing, few.failing_total, len(few.worst_classes)) == ((), 24, 1)
    every = sqlaudit.audit(PEOPLE, qi="id", require="k=2", failing_classes=None).failing
    assert sum(one.classes for one in every) == 24


@pytest.mark.parametrize(
    "make",
    [
        lambda: Limits(threads=2.5),  # type: ignore[arg-type]
        lambda: Limits(threads=0),
        lambda: Limits(threads="x"),  # type: ignore[arg-type]
        lambda: Limits(timeout=float("nan")),
        lambda: Limits(timeout=-1),
        lambda: Limits(timeout="x"),  # type: ignore[arg-type]
        lambda: Limits(memory=5),  # type: ignore[arg-type]
        lambda: ReadOptions(delimiter="ab"),
        lambda: ReadOptions(header="x"),  # type: ignore[arg-type]
        lambda: ReadOptions(skip=2.5),  # type: ignore[arg-type]
        lambda: ReadOptions(format="x"),
        lambda: ReadOptions(null_values=(5,)),  # type: ignore[arg-type]
        lambda: Roles(quasi_identifiers=5),  # type: ignore[arg-type]
        lambda: Roles(quasi_identifiers=("age",), nulls="x"),  # type: ignore[arg-type]
        lambda: Roles(quasi_identifiers=("age",), joint="x"),  # type: ignore[arg-type]
    ],
)
def test_a_request_made_in_code_is_read_as_on_every_edge(make: Any) -> None:
    with pytest.raises(UsageError):
        make()


def test_a_text_of_names_is_a_list_of_names() -> None:
    assert Roles(quasi_identifiers="age,sex").quasi_identifiers == ("age", "sex")  # type: ignore[arg-type]
    assert ReadOptions(null_values="?", delimiter="tab") == ReadOptions(null_values=("?",), delimiter="\t")  # type: ignore[arg-type]
    assert FLAG.read("joint", False) is False


UNUSED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("columns", {"epsilon": 0.1}),
    ("columns", {"ratio": "separation"}),
    ("columns", {"identifying": True, "tolerance": 0.1}),
    ("columns", {"rank_by": "unique"}),
    ("attack", {"node": [1, 1]}),
    ("attack", {"node": [1, 0.5], "require": "k=2"}),
)


@pytest.mark.parametrize(("name", "given"), UNUSED)
def test_an_option_that_nothing_uses_is_refused(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        getattr(sqlaudit, name)(PEOPLE, **CALLS[name], **given)


@pytest.mark.parametrize("given", [{"witness": 2.5}, {"witness": "x"}, {"knowledge": 2.5}, {"knowledge": True}])
def test_pieces_of_knowledge_are_whole_numbers(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="takes a whole number"):
        sqlaudit.disclosure_curve(PEOPLE, qi="age,sex", sensitive="dx", **given)


def test_a_time_limit_that_no_thread_can_wait_for_is_refused(tmp_path: Any) -> None:
    file = tmp_path / "people.csv"
    PEOPLE.to_csv(file, index=False)
    answer = run("audit", file, "--qi", "age", "--timeout", "99999999999h")
    assert (answer.code, "--timeout must be a time of at most 2,000,000 seconds" in answer.err) == (2, True)
