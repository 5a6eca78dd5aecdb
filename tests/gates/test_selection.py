"""Selections mean what they mean in dbt."""

from __future__ import annotations

import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.gates.result import Place, TableEntry, TestSpec
from sqlaudit.gates.run import select

PLACE = Place("p.yml", 1)


def spec(requirement: str, *tags: str, severity: str = "error", owner: str = "") -> TestSpec:
    return TestSpec(requirement, PLACE, tags=tags, severity=severity, owner=owner)


TABLES = (
    TableEntry("raw.patients", PLACE, None, tests=(spec("k=2"),), connection="a", owner="clinic"),
    TableEntry(
        "release",
        PLACE,
        None,
        tests=(spec("k=5", "release"), spec("l=2", severity="warn", owner="ethics")),
        derived_from=("raw.patients",),
        connection="b",
    ),
    TableEntry("summary", PLACE, None, tests=(spec("k=11"),), derived_from=("release",), tags=("release",)),
    TableEntry("other", PLACE, None, tests=(spec("column_sets=max_size:3"),)),
)


def names(*wanted: str) -> list[str]:
    return [f"{table.name}:{test.requirement}" for table in select(TABLES, wanted) for test in table.tests]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("release", ["release:k=5", "release:l=2"]),
        ("patients", ["raw.patients:k=2"]),
        ("raw.*", ["raw.patients:k=2"]),
        ("tag:release", ["release:k=5", "summary:k=11"]),
        ("tag:release,release+", ["release:k=5", "summary:k=11"]),
        ("tag:release,summary", ["summary:k=11"]),
        ("release+", ["release:k=5", "release:l=2", "summary:k=11"]),
        ("patients+", ["raw.patients:k=2", "release:k=5", "release:l=2", "summary:k=11"]),
        ("+release", ["raw.patients:k=2", "release:k=5", "release:l=2"]),
        ("+release+", ["raw.patients:k=2", "release:k=5", "release:l=2", "summary:k=11"]),
        ("summary other", ["summary:k=11", "other:column_sets=max_size:3"]),
        ("severity:warn", ["release:l=2"]),
        ("owner:clinic", ["raw.patients:k=2"]),
        ("owner:eth*", ["release:l=2"]),
        ("connection:a", ["raw.patients:k=2"]),
        ("requirement:k", ["raw.patients:k=2", "release:k=5", "summary:k=11"]),
        ("requirement:k=5", ["release:k=5"]),
        ("requirement:column_sets", ["other:column_sets=max_size:3"]),
    ],
)
def test_selections(wanted: str, found: list[str]) -> None:
    assert names(wanted) == found


def test_several_selections_add_up() -> None:
    assert names("summary", "other") == names("summary other")
    assert len(names()) == 5


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("tag:relase", "select 'tag:relase' matches no test. Did you mean 'tag:release'?"),
        ("sumary", "select 'sumary' matches no test. Did you mean 'summary'?"),
        ("tga:release", "select: there is no method 'tga'. Did you mean 'tag'? See table, tag, owner, severity,"),
        (",", "select ',' matches no test."),
    ],
)
def test_a_selection_of_nothing_is_an_error(wanted: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        names("release", wanted)
    assert str(error.value).startswith(said)
