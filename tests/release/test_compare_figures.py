"""Figures of `compare` and `attack` that are easily read as better, or worse, than what they mean."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.release.compare.queries import relative_errors
from sqlaudit.release.compare.result import METHODS, CompareResult, Group
from sqlaudit.reports.document import percent
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.cli.runner import run, write_csv
from tests.release.alone import release_alone  # noqa: F401
from tests.reports.schemas import validator

Cells = list[tuple[Any, ...]]


def compared(engine: Engine, kind: str, original: Cells, release: Cells, **options: Any) -> CompareResult:
    """A column `q` of a kind and a sensitive `s`, beside a release of texts."""
    sides = {"original": (original, kind), "release": (release, "text")}
    tables = [
        Target(query=values_query([{"q": q, "s": s} for q, s in rows], {"q": held, "s": "text"}), label=name)
        for name, (rows, held) in sides.items()
    ]
    given: dict[str, Any] = {"qi": ["q"], "sensitive": ["s"], "workload": 0, "measures": ["tree"]} | options
    found = sqlaudit.compare(*tables, db=engine, **given)
    validator("compare").validate(found.to_dict())
    return found


def plain(found: CompareResult) -> list[float | None]:
    """What each query without groups answers, non-corrected."""
    return [one.groups[0].answers[METHODS[0]] for one in found.queries]


def asked(*conditions: str, head: str = "COUNT(*)") -> list[str]:
    return [f"SELECT {head} FROM t WHERE {condition}" for condition in conditions]


NUMBERS: Cells = [(1, "a"), (2, "a"), (3, "b"), (7, "b"), (8, "c"), (8, "c")]


def test_a_cell_can_satisfy_by_a_value_that_no_original_row_has(engine: Engine) -> None:
    """Thesis, Definition 2.5.3: some value of the cell satisfies the condition, and it need not have occurred."""
    release = [("1-8", s) for _, s in NUMBERS]
    queries = asked(
        "q BETWEEN 4 AND 6",
        "q = 5",
        "q > 8",
        "q > 3.2 AND q < 3.8",
        "q < 1",
        "NOT q <= 3 AND q < 7",
        "q IN (4, 99)",
        "q = -5",
    )
    found = compared(engine, "int", NUMBERS, release, queries=queries)
    assert plain(found) == [6, 6, 0, 0, 0, 6, 6, 0]
    corrected = [(one.groups[0].answers["conditional"], one.groups[0].answers["independent"]) for one in found.queries]
    assert corrected == [(0, 0)] * 8


def test_sums_and_averages_have_no_weight_where_nothing_satisfies(engine: Engine) -> None:
    rows = [{"q": q, "s": s, "w": 10} for q, s in NUMBERS]
    tables = [
        Target(query=values_query(rows, {"q": "int", "s": "text", "w": "int"}), label="original"),
        Target(
            query=values_query([row | {"q": "1-8"} for row in rows], {"q": "text", "s": "text", "w": "int"}), label="r"
        ),
    ]
    queries = [*asked("q = 5", head="SUM(w)"), *asked("q = 5", head="AVG(w)")]
    found = sqlaudit.compare(*tables, db=engine, qi=["q"], workload=0, measures=["tree"], queries=queries)
    answers = [tuple(one.groups[0].answers.values()) for one in found.queries]
    assert answers == [(60, None, None), (10, None, None)]
    assert [one.groups[0].truth for one in found.queries] == [None, None]


@pytest.mark.parametrize(
    ("kind", "values", "cell", "yes", "no"),
    [
        ("float", [1.0, 8.0], "[1, 8)", ["q > 3.2 AND q < 3.8", "q = 4.5"], ["q > 8", "q BETWEEN 8.5 AND 9"]),
        (
            "text",
            ["13053", "13068"],
            "130**",
            ["q = '13055'", "q LIKE '1309%'", "q > '13070' AND q < '13075'"],
            ["q = '14850'", "q LIKE '131%'", "q = '1305'"],
        ),
        (
            "date",
            [datetime.date(1975, 3, 1), datetime.date(1975, 9, 1)],
            "1975",
            ["q = DATE '1975-05-05'", "q BETWEEN DATE '1975-04-01' AND DATE '1975-04-30'"],
            ["q = DATE '1976-05-05'", "q > DATE '1975-12-31'"],
        ),
        ("int", [1, 8], "*", ["q = 5", "q > 100"], []),
        ("int", [1, 8], "{1, 5, 8}", ["q BETWEEN 4 AND 6"], ["q BETWEEN 2 AND 4", "q = 6"]),
    ],
)
def test_what_cells_of_each_kind_can_satisfy(
    engine: Engine, kind: str, values: list[Any], cell: str, yes: list[str], no: list[str]
) -> None:
    found = compared(engine, kind, [(value, "a") for value in values], [(cell, "a")] * 2, queries=asked(*yes, *no))
    assert plain(found) == [2.0] * len(yes) + [0.0] * len(no)


def test_values_that_only_a_hierarchy_lists_can_satisfy(engine: Engine) -> None:
    towns = {"Ulm": ["south"], "Au": ["south"], "Kiel": ["north"]}
    found = compared(
        engine,
        "text",
        [("Ulm", "a"), ("Kiel", "b")],
        [("south", "a"), ("north", "b")],
        hierarchies={"q": {"values": towns}},
        queries=asked("q = 'Au'", "q LIKE 'A%'", "q = 'Bonn'"),
    )
    assert plain(found) == [1, 1, 0]


def test_groups_that_only_the_release_answers_are_wrong_answers(engine: Engine) -> None:
    """Thesis, 4.5: in the original the query selects nothing of the block, in the release it does."""
    queries = ["SELECT s, COUNT(*) FROM t WHERE q = 1 GROUP BY s", "SELECT s, AVG(q2) FROM t WHERE q = 1 GROUP BY s"]
    rows = [{"q": 1 + n, "s": s, "q2": 4} for n, s in enumerate("ab")]
    kinds = {"q": "int", "s": "text", "q2": "int"}
    tables = [
        Target(query=values_query(rows, kinds), label="original"),
        Target(query=values_query([row | {"q": "1-2"} for row in rows], kinds | {"q": "text"}), label="release"),
    ]
    found = sqlaudit.compare(*tables, db=engine, qi=["q"], workload=0, measures=["tree"], queries=queries)
    counts, averages = found.queries
    assert sorted((one.truth, one.answers["non-corrected"]) for one in counts.groups) == [(0, 1), (1, 1)]
    assert (counts.errors["non-corrected"].answers, counts.errors["non-corrected"].median) == (2, 0.5)
    assert counts.errors["non-corrected"].largest == 1
    assert (averages.errors["non-corrected"].answers, averages.errors["non-corrected"].largest) == (2, 1)


def test_relative_errors_of_all_kinds_of_groups() -> None:
    pairs = [(4, 3), (0, 1), (0, 0), (2, None), (None, 5), (None, None), (-2, -3)]
    groups = [Group(truth, {"x": answer}) for truth, answer in pairs]
    assert relative_errors(groups, "x") == [0.25, 1, 0, 1, 1, 0.5]


@pytest.mark.few_on_postgres(0)
def test_a_workload_says_which_empty_queries_the_release_answers(engine: Engine) -> None:
    original = [(1, "a"), (2, "b"), (3, "c")]
    found = compared(engine, "int", original, [("1-3", s) for _, s in original], workload=40)
    workload = found.workload
    assert workload is not None
    assert 0 < workload.false_positives["non-corrected"] <= workload.empty
    assert f"the release answers {workload.false_positives['non-corrected']} non-corrected" in _said(found)


@pytest.mark.few_on_postgres(0)
def test_random_queries_are_asked_only_where_somebody_wants_them(engine: Engine) -> None:
    original = [(1, "a"), (2, "b"), (3, "c")]
    noise = {}
    for name, options in {
        "neither": {"measures": ()},
        "workload": {"measures": (), "workload": 5},
        "named": {"measures": ["range-query-noise"]},
    }.items():
        found = compared(engine, "int", original, [("1-3", s) for _, s in original], by_position=True, **options)
        noise[name] = {loss.value for loss in found.losses if loss.measure == "range-query-noise"}
        assert (found.workload is None) == (name != "workload")
        assert ("Not computed: errors of random queries" in _said(found)) == (name != "workload")
        assert bool(noise[name]) == any("noise" in statement.name for statement in found.statements)
    assert noise["neither"] == set()
    assert noise["workload"] == noise["named"] != set()


def _said(found: CompareResult) -> str:
    return " ".join(render_text(document_of(found)).split())


def test_losses_below_nothing_and_above_everything_are_printed_so() -> None:
    assert [percent(share) for share in (-2, Fraction(-1, 4), -0.0001, 1.5, Fraction(10001, 10000))] == [
        "−200%",
        "−25.0%",
        "just below 0%",
        "150%",
        "just over 100%",
    ]


@pytest.mark.few_on_postgres(0)
def test_a_variance_loss_below_nothing(engine: Engine) -> None:
    """Values that lie as in the whole table are parted by a local recoding: the loss is below nothing."""
    original: Cells = [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    release: Cells = [("{1, 3}", "a"), ("{1, 4}", "b"), ("{2, 3}", "a"), ("{2, 4}", "b")]
    found = compared(engine, "int", original, release, measures=["variance-loss"])
    assert found.loss("variance-loss").value == -2
    said = _said(found)
    assert "under 0.1%" not in said


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("cell", ["*", "1-8"])
def test_a_release_in_which_every_cell_covers_its_column_was_recoded(engine: Engine, cell: str) -> None:
    found = compared(engine, "int", NUMBERS, [(cell, s) for _, s in NUMBERS])
    assert found.generalization.recoding == "full-domain"
    assert "no value was changed" not in _said(found)


@pytest.mark.few_on_postgres(0)
def test_rows_suppressed_as_a_whole_are_said_beside_rows_that_did_not_change(engine: Engine) -> None:
    release = [("*" if place < 2 else str(q), s) for place, (q, s) in enumerate(NUMBERS)]
    found = compared(engine, "int", NUMBERS, release)
    assert found.generalization.recoding == "none"
    assert "no value was changed in the rows that are not suppressed as a whole" in _said(found)


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("kind", ["date", "text"])
def test_iso_dates_lie_in_masked_years_and_months(engine: Engine, kind: str) -> None:
    days = ["1971-03-01", "1975-12-01", "1981-09-30", "1982-01-31"]
    original = [
        (day if kind == "text" else datetime.date.fromisoformat(day), s) for day, s in zip(days, "abcd", strict=True)
    ]
    release: Cells = [("197*", "a"), ("197*", "b"), ("1981-0*", "c"), ("1982-01-**", "d")]
    facts = compared(engine, kind, original, release).generalization
    assert (facts.answer, facts.columns[0].empty_cells) == ("yes", 0)
    wrong = compared(engine, kind, original, [("196*", "a"), *release[1:]]).generalization
    assert (wrong.answer, wrong.columns[0].empty_cells) == ("no", 1)


def test_even_weights_are_those_of_exponent_nothing(tmp_path: Path) -> None:
    people = write_csv(tmp_path / "p.csv", "zip,s", "11,a", "12,b", "21,c", "22,d")
    release = write_csv(tmp_path / "r.csv", "zip,s", "1*,a", "1*,b", "**,c", "**,d")
    asked_for = {"qi": ["zip"], "hierarchies": {"zip": {"mask": [1, 2]}}, "workload": 0}
    found = sqlaudit.compare(str(people), str(release), beta=0, **asked_for)
    assert found.loss("whd-height").value == pytest.approx(float(found.loss("whd").value or 0))
    assert found.loss("whd").value != sqlaudit.compare(str(people), str(release), **asked_for).loss("whd-height").value
    assert run("compare", people, release, "--qi", "zip", "--beta", "0", "--workload", 0).code == 0
    with pytest.raises(UsageError, match="beta= must be a number of 0 or more"):
        sqlaudit.compare(str(people), str(release), beta=-1, **asked_for)


@pytest.fixture
def linked(tmp_path: Path) -> tuple[Path, Path]:
    release = write_csv(tmp_path / "r.csv", "zip,s", "11,flu", "11,flu", "12,cold", "12,flu")
    return release, write_csv(tmp_path / "named.csv", "name,zip", "Ann,11", "Bob,12")


def test_attribute_linkage_can_be_asked_for_alone(linked: tuple[Path, Path]) -> None:
    release, named = linked
    given: dict[str, Any] = {"qi": ["zip"], "sensitive": ["s"], "identified": str(named)}
    alone = sqlaudit.attack(str(release), only=["linkage-attribute"], **given)
    assert [(one.attack, one.exposed) for one in alone.exposures] == [("linkage_attribute", 1)]
    both = sqlaudit.attack(str(release), only=["linkage", "linkage_attribute"], **given)
    assert [one.attack for one in both.exposures] == ["linkage", "linkage_attribute"]
    everything = sqlaudit.attack(str(release), **given)
    tried = [one.attack for one in (*everything.exposures, *everything.not_tried)]
    assert tried.count("linkage_attribute") == 1
    ran = run("attack", release, "--qi", "zip", "--sensitive", "s", "--only", "linkage_attribute")
    assert ran.code == 0
    assert "It needs a table with names" in ran.said
    lacking = sqlaudit.attack(str(release), qi=["zip"], identified=str(named), only=["linkage_attribute"])
    assert [(one.attack, one.reason) for one in lacking.not_tried] == [
        ("linkage_attribute", "It needs a sensitive attribute (sensitive=).")
    ]
    validator("attack").validate(lacking.to_dict())
    unknown = run("attack", release, "--qi", "zip", "--only", "linkage_atribute")
    assert "Did you mean linkage_attribute" in unknown.said or "linkage_attribute" in unknown.err


def test_the_last_value_is_never_ruled_out() -> None:
    """Of two values one is left when the other is ruled out: that makes everyone certain and tells nothing."""
    release = pd.DataFrame({"q": [1, 1, 2, 2], "s": ["yes", "no", "yes", "no"]})
    found = sqlaudit.attack(release, qi=["q"], sensitive=["s"]).exposure("background_knowledge")
    assert (found.exposed, len(found.steps)) == (0, 1)
    assert found.note == "Ruling out all values of s but one is always certain and not counted."


def test_nearly_sure_are_those_about_whom_the_guess_is_right(engine: Engine) -> None:
    rows = [{"q": 1, "s": "flu"}] * 9 + [{"q": 1, "s": "HIV"}] + [{"q": 2, "s": "flu"}, {"q": 2, "s": "HIV"}]
    rows.append({"q": 3, "s": "cold"})
    target = values_query(rows, {"q": "int", "s": "text"})
    found = sqlaudit.attack(query=target, db=engine, qi=["q"], sensitive=["s"], sure="0.9", pieces=1)
    assert found.exposure("homogeneity").figures["nearly_sure"] == 10
    steps = found.exposure("background_knowledge").steps
    assert [step["nearly_sure"] for step in steps] == [10, 13]
