"""m-invariance of a table and its older releases, as a policy asks for it: the figures of `sqlaudit.releases`."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.result import Outcome
from sqlaudit.gates.run import mistakes_of
from tests.cli.runner import write_csv
from tests.gates.conftest import Make
from tests.gates.test_schema import errors

MAY = [("1", "2*", "flu"), ("2", "2*", "cold"), ("3", "3*", "flu"), ("4", "3*", "none")]
JUNE = [("1", "2*", "flu"), (None, "2*", "cold"), ("3", "3*", "flu"), ("5", "3*", "none")]
JULY = [("1", "2*", "flu"), ("6", "2*", "none"), ("3", "3*", "flu"), ("5", "3*", "none")]
HEAD = """
tables:
  - {table: "{schema}.may", name: first, quasi_identifiers: [age], requirements: [k=1]}
  - table: "{schema}.june"
    name: second
    quasi_identifiers: [age]
    sensitive: [disease]
    requirements:
"""
TABLE = "tables:\n  - file: june.csv\n    quasi_identifiers: [age]\n    sensitive: [disease]\n"


def rows(release: list[tuple[str | None, str, str]]) -> list[dict[str, object]]:
    return [{"id": who, "age": age, "disease": disease} for who, age, disease in release]


def test_the_figures_are_those_of_the_releases(database: Make) -> None:
    made = database({"may": rows(MAY), "june": rows(JUNE)})
    wanted = "".join(
        f"      - m_invariance: {{m: {m}, before: {before}, entity: id, counterfeits: true}}\n"
        for m, before in ((2, "first"), (3, "first"), (2, "'{schema}.may'"))
    )
    tests = sqlaudit.gate(made.policy(HEAD + wanted)).tests[1:]
    assert [(test.outcome, test.check and test.check.level, test.sensitive) for test in tests] == [
        (Outcome.PASS, 2, "disease"),
        (Outcome.FAIL, 2, "disease"),
        (Outcome.PASS, 2, "disease"),
    ]


def test_files_beside_the_policy(tmp_path: Path) -> None:
    for name, release in (("may", MAY), ("july", JULY)):
        write_csv(tmp_path / f"{name}.csv", "id,age,disease", *(",".join(map(str, one)) for one in release))
    (tmp_path / "sqlaudit.yml").write_text(
        "tables:\n  - file: july.csv\n    quasi_identifiers: [age]\n    sensitive: [disease]\n    entity: id\n"
        "    requirements: [{m_invariance: {m: 2, before: may.csv}}]\n"
    )
    (test,) = sqlaudit.gate(tmp_path / "sqlaudit.yml").tests
    assert test.check is not None
    assert (test.outcome, test.check.level, test.rows, test.classes) == (Outcome.FAIL, 0, 4, 2)
    assert test.requirement == "m_invariance=m:2,before:may.csv"
    assert test.message == "The releases in combination single out 3 people."


@pytest.mark.parametrize(
    ("requirement", "sentence"),
    [
        ("{m_invariance: {m: 2}}", "m_invariance needs before: the limit, and all older releases of this table."),
        ("{m_invariance: 2}", "m_invariance"),
        (
            "{m_invariance: {m: 2, before: may.csv}}",
            "m_invariance needs the column of persons; name it under 'entity'.",
        ),
        ("{m_invariance: {m: 2, before: [], entity: id}}", "needs at least one older release under 'before'."),
        ("{m_invariance: {m: 2, before: a, entity: id}, error_if: '> 1%'}", "a figure of all releases together"),
        ("m_invariance=2", "'m_invariance' is about several releases of one table"),
    ],
)
def test_mistakes_are_told_before_anything_is_read(tmp_path: Path, requirement: str, sentence: str) -> None:
    file = tmp_path / "sqlaudit.yml"
    file.write_text(TABLE + f"    requirements: [{requirement}]\n")
    told = [mistake.message for mistake in mistakes_of(load_policy(file))]
    assert len(told) == 1
    assert sentence in told[0]


def test_the_schema_of_policies_takes_it() -> None:
    for limit, wrong in (("m: 2, before: [may]", False), ("m: 2", True), ("m: 0, before: may", True)):
        assert bool(errors(TABLE + f"    requirements: [{{m_invariance: {{{limit}}}}}]\n")) is wrong
