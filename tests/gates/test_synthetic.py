"""What a policy says of a synthetic table: the same figures as the comparison, from one run of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.gates.api import run_gate
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.request import GateRequest, PolicySource
from sqlaudit.gates.result import Outcome
from sqlaudit.gates.run import mistakes_of
from tests.cli.runner import write_csv
from tests.gates.conftest import Make
from tests.gates.test_run import Counting
from tests.gates.test_schema import errors

TABLE = "tables:\n  - file: made.csv\n    quasi_identifiers: [age]\n    sensitive: [disease]\n"


def write(folder: Path, requirements: str) -> Path:
    write_csv(folder / "raw.csv", "age,disease", "30,flu", "31,cold", "32,flu", "33,flu")
    write_csv(folder / "made.csv", "age,disease", "30,flu", "31,flu", "32,flu")
    write_csv(folder / "others.csv", "age,disease", "30,flu", "41,flu", "42,cold", "43,flu")
    file = folder / "sqlaudit.yml"
    file.write_text(TABLE + f"    requirements: [{requirements}]\n")
    return file


def test_the_figures_are_those_of_the_comparison(tmp_path: Path) -> None:
    limits = "rep_u=75%, 'disco=49%', exact_copies=2, excess_disclosure=10%"
    file = write(tmp_path, f"{{synthetic: {{original: raw.csv, holdout: others.csv, require: [{limits}]}}}}")
    result = sqlaudit.gate(file)
    assert [(one.outcome, one.check and one.check.level, one.sensitive) for one in result.tests[:3]] == [
        (Outcome.PASS, 0.75, None),
        (Outcome.FAIL, 0.5, "disease"),
        (Outcome.PASS, 2, None),
    ]
    excess = result.tests[3]
    assert excess.outcome is Outcome.UNDETERMINED  # 25 points, which four people inside and four outside do not prove
    assert excess.check is not None
    compared = sqlaudit.compare(
        *(str(tmp_path / name) for name in ("raw.csv", "made.csv")),
        qi="age",
        sensitive="disease",
        synthetic=True,
        holdout=str(tmp_path / "others.csv"),
    )
    assert compared.synthetic.holdout is not None
    assert excess.check.level == compared.synthetic.holdout.of("disco").high
    assert [one.requirement for one in result.tests][
        2
    ] == "synthetic=exact_copies=2,original:raw.csv,holdout:others.csv"


def test_pictures_are_not_computed_for_a_policy(tmp_path: Path) -> None:
    """A comparison for a report has statements for its pictures, a test has none."""
    wanted = (
        "{synthetic: {original: raw.csv, require: disco=1}}, {loss: {original: raw.csv, measure: tree, at_most: 1}}"
    )
    of_pictures = {"bins of columns and of pairs", "rows by value"}
    counting = Counting()
    result = run_gate(GateRequest(PolicySource(write(tmp_path, wanted))), counting)
    assert [test.outcome for test in result.tests] == [Outcome.PASS, Outcome.PASS]
    assert "copies" in counting.steps
    assert not of_pictures & {*counting.steps}
    tables = [str(tmp_path / name) for name in ("raw.csv", "made.csv")]
    for synthetic in (True, False):
        shown = sqlaudit.compare(*tables, qi="age", sensitive="disease", synthetic=synthetic)
        assert of_pictures & {statement.name for statement in shown.statements}


@pytest.mark.parametrize(
    ("requirement", "sentence"),
    [
        ("{synthetic: {original: raw.csv}}", "synthetic needs require."),
        ("{synthetic: {require: disco=1}}", "synthetic needs original."),
        ("{synthetic: {original: raw.csv, require: k=5}}", "is about one table"),
        ("{synthetic: {original: raw.csv, require: disco=1, known: 4}}", "'known' is at most 3, not 4."),
        ("{synthetic: {original: raw.csv, require: excess_disclosure=1%}}", "name their table under 'holdout'"),
        ("{synthetic: {original: raw.csv, require: disco=1}, error_if: '> 1%'}", "a figure of the whole table"),
        ("disco=1%", "'disco' is about a synthetic table and its original"),
    ],
)
def test_mistakes_are_told_before_anything_is_read(tmp_path: Path, requirement: str, sentence: str) -> None:
    told = [mistake.message for mistake in mistakes_of(load_policy(write(tmp_path, requirement)))]
    assert len(told) == 1
    assert sentence in told[0]


def test_the_schema_of_policies_takes_it() -> None:
    for limit, wrong in (("original: raw, require: disco=1%", False), ("original: raw, requires: disco=1%", True)):
        assert bool(errors(TABLE + f"    requirements: [{{synthetic: {{{limit}}}}}]\n")) is wrong


def test_tables_of_a_database_by_their_names(database: Make) -> None:
    def rows(*people: tuple[int, str]) -> list[dict[str, object]]:
        return [{"age": age, "disease": disease} for age, disease in people]

    made = database(
        {
            "raw": rows((30, "flu"), (31, "cold"), (32, "flu")),
            "made": rows((30, "flu"), (31, "flu")),
            "others": rows((30, "flu"), (50, "cold")),
        }
    )
    wanted = "require: [exact_copies=0, excess_disclosure=0.9], known: 1"
    tests = sqlaudit.gate(
        made.policy(
            "tables:\n  - {table: '{schema}.raw', name: first, quasi_identifiers: [age], requirements: [k=1]}\n"
            "  - table: '{schema}.made'\n    quasi_identifiers: [age]\n    sensitive: [disease]\n"
            f"    requirements: [{{synthetic: {{original: first, holdout: '{{schema}}.others', {wanted}}}}}]\n"
        )
    ).tests[1:]
    copies, excess = tests
    assert (copies.outcome, copies.check and copies.check.level) == (Outcome.FAIL, 1)
    assert excess.outcome is Outcome.UNDETERMINED
    assert "a larger holdout is needed" in excess.message
