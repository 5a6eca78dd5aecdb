"""What an option takes, and its bounds, are the same in Python and on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import FLAG, MOST, MOST_SECONDS, RANGE, SECONDS, SHARE, WHOLE, Option
from sqlaudit.base.spec import Limits, ReadOptions, Roles
from sqlaudit.cli.group import on_the_command_line
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
