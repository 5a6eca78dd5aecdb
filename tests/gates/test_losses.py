"""Limits on losses against an original give the figures of `sqlaudit.compare`, on both engines."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.base.spec import Target
from sqlaudit.gates.connections import database_of
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.release_limits import loss_text
from sqlaudit.gates.result import Change, Drift, LossLimit, Outcome
from sqlaudit.gates.run import mistakes_of
from sqlaudit.reports.formats import render_json
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.gates.conftest import Make
from tests.gates.databases import in_duckdb, write
from tests.gates.test_schema import errors
from tests.reports.schemas import validator

RAW = [
    {"id": i, "age": age, "sex": sex, "disease": disease}
    for i, (age, sex, disease) in enumerate(
        [(31, "F", "flu"), (38, "F", "cold"), (52, "M", "flu"), (57, "M", "flu"), (33, "M", "cold"), (36, "M", "flu")]
    )
]
RELEASE = [row | {"age": f"{row['age'] // 10 * 10}-{row['age'] // 10 * 10 + 9}"} for row in RAW]  # type: ignore[operator]
HEAD = """
tables:
  - {table: "{schema}.raw", name: original, quasi_identifiers: [age, sex], requirements: [k=1]}
  - table: "{schema}.release"
    name: release
    quasi_identifiers: [age, sex]
    sensitive: [disease]
    inputs: {hierarchies: {age: {widths: [10]}}}
    requirements:
"""


def test_losses_are_those_of_a_comparison(database: Make) -> None:
    made = database({"raw": RAW, "release": RELEASE})
    measures = ("modification-rate", "entropy", "ncp", "discernibility", "variance-loss")
    wanted = "".join(f"      - loss: {{original: original, key: id, measure: {m}, at_most: 1000}}\n" for m in measures)
    wanted += (
        "      - loss: {original: original, key: id, measure: entropy, of: share, at_most: 30%}\n"
        "      - loss: {original: original, key: id, measure: ncp, of: mean, column: age, at_most: 0.01}\n"
        "      - loss: {original: original, key: id, measure: precision, at_least: 0.99}\n"
        "      - {loss: {original: original, measure: discernibility, at_most: 1}, severity: warn}\n"
    )
    policy = made.policy(HEAD + wanted)
    result = sqlaudit.gate(policy)
    found = sqlaudit.compare(
        f"{made.schema}.raw",
        f"{made.schema}.release",
        qi=["age", "sex"],
        sensitive="disease",
        key="id",
        hierarchies={"age": {"widths": [10]}},
        measures=[*measures, "precision"],
        workload=0,
        db=database_of(load_policy(policy).connections["main"]),
    )
    tests = result.tests[1:]
    assert [test.check and test.check.level for test in tests] == [
        *(found.loss(measure).value for measure in measures),
        found.loss("entropy").share,
        found.loss("ncp", "age").mean,
        found.loss("precision").value,
        found.loss("discernibility").value,
    ]
    assert [test.outcome for test in tests[:5]] == [Outcome.PASS] * 5
    assert found.loss("modification-rate").value == Fraction(1, 2)
    assert [test.outcome for test in tests[6:]] == [Outcome.FAIL, Outcome.FAIL, Outcome.WARN]
    assert (tests[5].outcome is Outcome.PASS) is (found.loss("entropy").share <= 0.3)  # type: ignore[operator]
    validator("gate").validate(json.loads(render_json(result.to_dict())))
    assert [test.sensitive for test in tests] == [None] * 4 + ["disease"] + [None] * 4


def test_what_keeps_a_loss_from_being_told(database: Make) -> None:
    made = database({"raw": RAW, "release": RELEASE})
    policy = made.policy(
        HEAD
        + "      - loss: {original: '{schema}.nowhere', measure: discernibility, at_most: 1}\n"
        + "      - loss: {original: original, key: sex, measure: modification-rate, at_most: 1}\n"
        + "      - loss: {original: original, distance: ordered, measure: hybrid, at_most: 1}\n"
        + "      - k=1\n"
        + '  - {table: "{schema}.release", name: nobody, where: 1 = 0, quasi_identifiers: [age, sex], requirements: '
        + "[{loss: {original: original, measure: discernibility, at_most: 1}}]}\n"
    )
    result = sqlaudit.gate(policy)
    said = [(test.outcome.value, test.message) for test in result.tests[1:]]
    assert [outcome for outcome, _ in said] == ["error"] * 3 + ["pass", "fail"]
    assert "nowhere" in said[0][1]
    assert said[1][1] == (
        "A column is named twice in quasi_identifiers, 'sensitive' and key. Give every column one role."
    )
    assert said[2][1].startswith("distance: ordered: disease: ")
    assert "flu" not in str(said)


def test_a_loss_that_grows_is_worse_than_its_baseline(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path, {"raw": RAW, "release": RELEASE})
    limits = "".join(
        f"      - loss: {{original: original, key: id, measure: {measure}, {bound}}}\n"
        for measure, bound in (("modification-rate", "at_most: 0.1"), ("precision", "at_least: 0.99"))
    )
    policy, kept = made.policy(HEAD + limits), tmp_path / "kept.yml"
    sqlaudit.gate(policy, baseline=kept, accept=True)
    again = sqlaudit.gate(policy, baseline=kept)
    assert [test.outcome.value for test in again.tests] == ["pass", "accepted", "accepted"]
    in_duckdb(tmp_path, {"release": [row | {"age": "30-59"} for row in RELEASE]})
    worse = sqlaudit.gate(policy, baseline=kept).tests[1:]
    assert [test.outcome for test in worse] == [Outcome.ACCEPTED, Outcome.FAIL]
    assert worse[0].change == Change(Drift.SAME, "")
    assert worse[1].change is not None
    assert worse[1].change.drift is Drift.WORSE


def test_a_loss_between_files(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("age,s\n31,a\n38,b\n52,a\n57,b\n", encoding="utf-8")
    (tmp_path / "out.csv").write_text("age,s\n30-39,a\n30-39,b\n50-59,a\n50-59,b\n", encoding="utf-8")
    text = """
tables:
  - file: out.csv
    quasi_identifiers: [age]
    requirements:
      - loss: {original: raw.csv, measure: modification-rate, at_most: 1}
      - loss: {original: raw.csv, measure: modification-rate, at_most: 99%}
      - loss: {original: nowhere.csv, measure: entropy, at_most: 1}
"""
    assert errors(text) == []
    first, second, third = sqlaudit.gate(write(tmp_path, text)).tests
    assert (first.outcome, second.outcome, third.outcome) == (Outcome.PASS, Outcome.FAIL, Outcome.ERROR)
    assert loss_text(LossLimit(Target("raw"), "discernibility", Fraction(1000))) == (
        "loss=measure:discernibility,at_most:1000,original:raw"
    )
    assert first.requirement == "loss=measure:modification-rate,at_most:1,original:raw.csv"
    assert third.message == "There is no file 'nowhere.csv'."


HEAD_T = "connections: {main: {duckdb: c}}\ntables:\n  - {table: t, quasi_identifiers: [a], requirements: [{loss: "


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{measure: entropy, at_most: 1}", "loss needs original."),
        ("{original: r, measure: entropy}", "loss needs one of at_most and at_least."),
        ("{original: r, measure: entropy, at_most: 1, at_least: 1}", "loss needs one of at_most and at_least."),
        ("{original: r, measure: entrpy, at_most: 1}", "measure must be one of "),
        ("{original: r, measure: entropy, at_most: much}", "at_most must be a number, for example 0.2, 1/3 or 20%."),
        (
            "{original: r, measure: entropy, at_least: 1}",
            "the measure 'entropy' is worse when it is higher; write at_most.",
        ),
        (
            "{original: r, measure: precision, at_most: 1}",
            "the measure 'precision' is better when it is higher; write at_least.",
        ),
        (
            "{original: r, measure: hybrid, at_most: 1}",
            "the loss 'hybrid' needs a sensitive column: name one under 'sensitive'.",
        ),
        ("{original: r, measure: entropy, at_most: 1, column: b}", "'b' is not a quasi-identifier of this table."),
        (
            "{original: r, measure: entropy, at_most: 1, key: i, by_position: true}",
            "'key' and 'by_position' exclude each other. Keep one.",
        ),
        ("{original: r, measure: entropy, at_most: 1, off: mean}", "loss has no key 'off'."),
    ],
)
def test_mistakes_in_a_loss(written: str, said: str, tmp_path: Path) -> None:
    found = mistakes_of(load_policy(write(tmp_path, HEAD_T + written + "}]}")))
    assert len(found) == 1
    assert found[0].message.startswith(f"t: {said}")
    assert found[0].place.line == 3
