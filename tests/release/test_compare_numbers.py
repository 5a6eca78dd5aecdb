"""Numbers of the papers, and what must hold of every measure: identity loses nothing, coarser never loses less."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.release.compare.result import METHODS, CompareResult
from tests.audit_values import values_query
from tests.release import cases
from tests.release.alone import release_alone  # noqa: F401
from tests.release.cases import Drawn
from tests.release.test_compare_oracle import compared, few

QUICK: dict[str, Any] = {"workload": 0, "noise_queries": 2}
SAFE_TO_COMPARE = 1e-9


# Barriers (Wiegnand and Schallner), Table 3 and the examples of 3.1
PEOPLE = pd.DataFrame(
    {
        "gender": ["male", "male", "male", "female", "female", "female"],
        "birthday": ["13.08.1962", "28.10.1967", "20.01.1977", "15.09.1973", "15.03.1985", "28.05.1986"],
    }
)
LOCAL = PEOPLE.assign(
    gender=["male", "male", "*", "*", "female", "female"],
    birthday=[*PEOPLE.birthday[:2], "197*", "197*", *PEOPLE.birthday[4:]],
)
DOMAIN = PEOPLE.assign(gender="*", birthday=["196*", "196*", "197*", "197*", "198*", "198*"])
DAYS = {
    day: [day[3:], day[6:], day[6:9] + "*", day[6:8] + "**", "*"] for day in PEOPLE.birthday
}  # day, month, year, decade, century, all: six levels
HIERARCHIES = {"birthday": {"values": DAYS}, "gender": {"values": {"male": ["*"], "female": ["*"]}}}


def barriers(release: pd.DataFrame, **options: Any) -> CompareResult:
    return sqlaudit.compare(
        PEOPLE, release, qi=["gender", "birthday"], hierarchies=HIERARCHIES, by_position=True, **QUICK, **options
    )


def test_modification_rates_of_barriers() -> None:
    local, domain = barriers(LOCAL), barriers(DOMAIN)
    assert local.loss("modification-rate").value == pytest.approx(4 / 12)
    assert domain.loss("modification-rate").value == 1
    assert (local.generalization.recoding, domain.generalization.recoding) == ("local", "full-domain")
    assert local.generalization.answer == domain.generalization.answer == "yes"


def test_weighted_hierarchical_distances_of_barriers() -> None:
    domain = barriers(DOMAIN)
    assert domain.loss("whd", "birthday").mean == pytest.approx(0.6)
    assert domain.loss("whd", "gender").mean == 1
    assert domain.loss("whd-height", "birthday").mean == pytest.approx(0.3431, abs=5e-5)
    assert domain.loss("whd-height", "gender").mean == 1
    steeper = barriers(DOMAIN, beta=2).loss("whd-height", "birthday").mean
    assert steeper == pytest.approx((1 / 9 + 1 / 16 + 1 / 25) / (1 + 1 / 4 + 1 / 9 + 1 / 16 + 1 / 25))


OF_BOTH = ["precision", "discernibility", "class-size", "entropy", "monotone-entropy", "non-uniform-entropy"]


@cache
def beside_people(release: str) -> CompareResult:
    """A release, as its file has it, beside the table: most measures have the same best node."""
    table, qi = pd.read_csv(StringIO(release), dtype=str), ["gender", "birthday"]
    return sqlaudit.compare(PEOPLE, table, qi=qi, hierarchies=HIERARCHIES, measures=OF_BOTH, **QUICK)


@pytest.mark.parametrize("measure", OF_BOTH)
def test_a_node_loses_what_a_comparison_of_its_release_tells(measure: str, tmp_path: Path) -> None:
    file = tmp_path / "release.csv"
    found = sqlaudit.lattice(
        PEOPLE, qi=["gender", "birthday"], require={"k": 2}, hierarchies=HIERARCHIES, measure=measure, to=file
    )
    beside = beside_people(file.read_text("utf-8"))
    assert found.best is not None
    assert found.best.loss is not None
    told = beside.loss(measure).value
    lost = 1 - found.best.loss if measure == "precision" else found.best.loss
    assert told == pytest.approx(lost)
    if measure == "precision":  # gender stays, days become centuries: 4 of 5 levels of one of two columns
        assert told == Fraction(3, 5)


# Thesis (Hsu), Tables 4.3-1 to 4.3-3: a table and two generalizations of it, not in the order of rows
ROWS_OF = [
    ("M", "U.S.", "Flu"),
    ("M", "Canada", "Cold"),
    ("F", "U.S.", "Flu"),
    ("F", "Canada", "Cold"),
    ("M", "U.S.", "Flu"),
    ("M", "Canada", "Flu"),
    ("F", "U.S.", "Cold"),
    ("F", "Canada", "Cold"),
]
LEFT = [
    ("*", "U.S.", "Flu"),
    ("*", "U.S.", "Flu"),
    ("*", "Canada", "Cold"),
    ("*", "Canada", "Cold"),
    ("M", "*", "Flu"),
    ("M", "*", "Flu"),
    ("F", "*", "Cold"),
    ("F", "*", "Cold"),
]
RIGHT = [
    ("*", "U.S.", "Flu"),
    ("*", "Canada", "Flu"),
    ("*", "U.S.", "Cold"),
    ("*", "Canada", "Cold"),
    ("M", "*", "Flu"),
    ("M", "*", "Cold"),
    ("F", "*", "Flu"),
    ("F", "*", "Cold"),
]
NAMES = ["gender", "nationality", "disease"]
QUERY = "SELECT {0}, disease, COUNT(*) FROM t GROUP BY {0}, disease"


@pytest.mark.parametrize(
    ("rows", "likely"), [(LEFT, {("M", "Flu"), ("F", "Cold"), ("U.S.", "Flu"), ("Canada", "Cold")}), (RIGHT, None)]
)
def test_query_answers_of_the_thesis(rows: list[tuple[str, ...]], likely: set[tuple[str, str]] | None) -> None:
    release = pd.DataFrame(rows, columns=NAMES)
    original = pd.DataFrame(ROWS_OF, columns=NAMES)
    found = sqlaudit.compare(
        original,
        release,
        qi=NAMES[:2],
        sensitive="disease",
        show_values=True,
        measures=["tree"],
        queries=";".join(QUERY.format(name) for name in NAMES[:2]),
        **QUICK,
    )
    for query in found.queries:
        answers = {group.key: group.answers for group in query.groups if group.key is not None}
        for (value, disease), own in answers.items():
            others = [answer for (name, _), answer in answers.items() if name == value]
            shares = {
                method: (own[method] or 0.0) / sum(answer[method] or 0.0 for answer in others)
                for method in (METHODS[0], METHODS[2])
            }
            if likely is None:
                expected = (1 / 2, 1 / 2)
            else:
                expected = (4 / 6, 3 / 4) if (value, disease) in likely else (2 / 6, 1 / 4)
            assert tuple(shares.values()) == pytest.approx(expected)


def test_entropy_falls_where_the_lemma_of_the_thesis_says() -> None:
    """Lemma 4.2.3: a rare value in a small group loses a whole bit, and less when it is suppressed."""
    original = pd.DataFrame({"a": ["a"] * 997 + ["b", "c", "d"]})
    tree = {"a": {"values": {"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"], "d": ["y", "*"]}}}
    values = {}
    for cell in ("y", "*"):
        release = original.copy()
        release.loc[999, "a"] = cell
        found = sqlaudit.compare(original, release, qi=["a"], hierarchies=tree, by_position=True, **QUICK)
        values[cell] = [found.loss(name).value for name in ("entropy", "monotone-entropy", "non-uniform-entropy")]
    whole = -(997 / 1000 * math.log2(997 / 1000) + 3 / 1000 * math.log2(1 / 1000))
    assert values["y"] == pytest.approx([1.0, 2 / 1000, 1.0])
    assert values["*"] == pytest.approx([whole, whole, math.log2(1000)])


def test_hybrid_falls_where_the_lemma_of_the_thesis_says_that_it_does_not() -> None:
    """Classes of A and B counts 1 and 2, 1 and 3, 1 and 0: merging the first two changes the hybrid by -1/12."""
    counts = {"x": "ABB", "y": "ABBB", "z": "A"}
    original = pd.DataFrame([(q, s) for q, found in counts.items() for s in found], columns=["q", "s"])
    tree = {"q": {"values": {"x": ["xy", "*"], "y": ["xy", "*"], "z": ["z", "*"]}}}
    release = original.assign(q=original.q.replace({"x": "xy", "y": "xy"}))
    found = sqlaudit.compare(original, release, qi=["q"], sensitive="s", hierarchies=tree, by_position=True, **QUICK)
    assert found.loss("hybrid").value == pytest.approx(-1 / 12)
    assert OF_RELEASES["hybrid"].monotone == "no"


TOWN = {
    **{name: f"{side} {land}" for name, (side, land) in cases.TOWNS.items()},
    **{f"{side} {land}": land for side, land in cases.TOWNS.values()},
}
ZIP = {**{code: code[:1] + "*" for code in cases.ZIPS}, "1*": "**", "2*": "**", "**": "*"}


def parent(column: str, cell: Any) -> Any:
    """The next coarser cell."""
    if column == "age":
        return "*"
    return {"town": TOWN, "zip": ZIP}[column].get(cell, "*")


def coarsened(drawn: Drawn, data: st.DataObject, *, whole: bool) -> Drawn:
    """The same with some cells raised: cell by cell, or all that are alike together."""
    raised: dict[tuple[Any, ...], bool] = {}
    release = []
    for place, row in enumerate(drawn.case.release):
        new = dict(row)
        for column in drawn.case.qi:
            key = (column, None) if whole else (column, place)
            if key not in raised:
                raised[key] = data.draw(st.booleans())
            if raised[key]:
                new[column] = parent(column, row[column])
        release.append(new)
    return Drawn(replace(drawn.case, release=release), drawn.local)


def has_several(drawn: Drawn) -> bool:
    """Of the few cases none is a table of one row, or a release of none."""
    return len(drawn.case.release) > 1


@pytest.mark.few_on_postgres(0)
def test_monotone_measures_never_fall(engine: Engine) -> None:
    by_cell = [measure.name for measure in OF_RELEASES.values() if measure.monotone == "yes"]
    by_class = [measure.name for measure in OF_RELEASES.values() if measure.monotone in ("yes", "classes")]

    @few(engine, 3, 8)
    @given(cases.cases().filter(has_several), st.data())
    def agree(drawn: Drawn, data: st.DataObject) -> None:
        fine = compared(engine, drawn, key="id", measures=by_class, **QUICK)
        for whole, names in ((False, by_cell), (True, by_class)):
            coarse = compared(engine, coarsened(drawn, data, whole=whole), key="id", measures=names, **QUICK)
            for name, column in itertools.product(names, (None, *drawn.case.qi)):
                less, more = fine.loss(name, column).value, coarse.loss(name, column).value
                if less is None or more is None:
                    continue
                if OF_RELEASES[name].complement:
                    less, more = more, less
                assert float(more) >= float(less) - SAFE_TO_COMPARE, (name, column, less, more)

    agree()


@pytest.mark.few_on_postgres(0)
def test_a_table_beside_itself_loses_nothing(engine: Engine) -> None:
    @few(engine, 3, 6)
    @given(cases.cases(keep_all=True))
    def agree(drawn: Drawn) -> None:
        case = drawn.case
        same = [{**row, "age": str(row["age"])} for row in case.original]
        result = compared(engine, Drawn(replace(case, release=same), False), key="id", **QUICK)
        assert (result.generalization.answer, result.generalization.recoding) == ("yes", "none")
        nothing = {"precision": 1, "volume-inflation": case.n, "independent-volume-inflation": case.n}
        for loss in result.losses:
            if loss.measure not in ("discernibility", "class-size"):
                wanted = nothing.get(loss.measure, 0)
                assert float(loss.value or 0) == pytest.approx(wanted, abs=SAFE_TO_COMPARE), loss

    agree()


@pytest.mark.few_on_postgres(0)
def test_complete_suppression_loses_the_maximum(engine: Engine) -> None:
    @few(engine, 3, 6)
    @given(cases.cases(keep_all=True))
    def agree(drawn: Drawn) -> None:
        case = drawn.case
        gone = [{**row, **dict.fromkeys(case.qi, "*")} for row in case.original]
        result = compared(engine, Drawn(replace(case, release=gone), False), key="id", **QUICK)
        assert result.generalization.suppressed == case.n
        assert result.loss("precision").value == 0
        assert result.loss("class-size").value == case.n
        shared = [loss for loss in result.losses if loss.share is not None]
        assert {"modification-rate", "whd", "whd-height", "tree", "redactions"} <= {loss.measure for loss in shared}
        for loss in shared:
            assert float(loss.share or 0) == pytest.approx(1), loss

    agree()


def test_two_releases_are_ordered_row_by_row(engine: Engine) -> None:
    @few(engine, 3, 8)
    @given(cases.cases().filter(has_several), st.data())
    def agree(drawn: Drawn, data: st.DataObject) -> None:
        raised = coarsened(drawn, data, whole=False)
        target = Target(query=values_query(raised.case.release, cases.RELEASED), label="other")
        found = compared(engine, drawn, key="id", measures=["tree"], other=target, **QUICK).coarser
        assert found is not None
        lower = upper = 0
        for place in range(len(drawn.case.release)):
            fine, coarse = (
                [one.covered(column, place) & {row[column] for row in one.original} for column in one.qi]
                for one in (drawn.case, raised.case)
            )
            lower += any(not own >= other for own, other in zip(fine, coarse, strict=True))
            upper += any(not own <= other for own, other in zip(fine, coarse, strict=True))
        assert (found.compared, found.not_coarser, found.not_finer) == (len(drawn.case.release), lower, upper)
        assert found.relation in ("finer", "equal") if found.compared else found.relation == "undecided"

    agree()


@pytest.mark.parametrize(("own", "other"), [("int", "float"), ("text", "int")])
def test_keys_and_values_of_unlike_types_are_compared(engine: Engine, own: str, other: str) -> None:
    """One key as a number here and as a fraction or a text there, and so the sensitive values: 1 equals 1.0 and '1'."""
    numbers: list[dict[str, Any]] = [{"id": one, "age": 30 + one, "ill": one % 2} for one in (1, 2, 3)]

    def table(kind: str) -> Target:
        made = {"int": int, "float": float, "text": str}[kind]
        rows = [row | {name: made(row[name]) for name in ("id", "ill")} for row in numbers]
        return Target(query=values_query(rows, {"id": kind, "age": "int", "ill": kind}))

    found = sqlaudit.compare(table(own), table(other), qi=["age"], sensitive="ill", key="id", db=engine, workload=0)
    fit = found.generalization
    assert (fit.answer, fit.foreign, fit.missing, dict(fit.changed)) == ("yes", 0, 0, {"ill": 0})
