"""Whole tables recoded: releases equal those made over rows, on both engines; losses are those of compare."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import Incomplete, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import requirement_from
from sqlaudit.remedies.recode.result import RecodeResult
from tests import oracle
from tests.audit_values import values_query
from tests.lattices.test_publish import COLUMNS, HIERARCHIES, LABELS, ODD, REQUIREMENTS, ROW
from tests.remedies import oracle_recode
from tests.remedies.oracle_recode import Cell, Row
from tests.remedies.unmeasured import unmeasured  # noqa: F401
from tests.reports.schemas import validator
from tests.strategies import run

Required = Sequence[tuple[str, dict[str, Any], str | None]]
AGES, TEXTS = [None, 3, 12, 15, 24, 38], ["a'b", "c;d", "", None]
LEVELS: dict[str, list[dict[Any, Any]]] = {
    ODD: [{value: label(value) for value in TEXTS} for label in LABELS[ODD][1:]],
    "age": [{value: label(value) for value in AGES} for label in LABELS["age"][1:]],
}
SIZES = {"k_anonymity"}


def falls_short(rows: Sequence[Row], required: Required) -> Callable[[list[Row]], bool]:
    """Whether a group, as one class among all others, fails any requirement; P is that of the whole table."""

    def short(part: list[Row]) -> bool:
        inside = {id(row) for row in part}
        marked = [{**row, "inside": id(row) in inside} for row in rows]
        for name, parameters, sensitive in required:
            table = oracle.table_of(marked, ["inside"], sensitive)
            if any(group.key == (True,) for group in oracle.MODELS[name](table, **parameters).failing):
                return True
        return False

    return short


def phases(rows: Sequence[Row], required: Required) -> list[Callable[[list[Row]], bool]]:
    """Requirements on sizes come first."""
    sizes = [one for one in required if one[0] in SIZES]
    return [*([falls_short(rows, sizes)] if sizes else []), falls_short(rows, required)]


def published(rows: Sequence[Row], cells: Sequence[Mapping[str, str | None]]) -> Counter[tuple[Any, ...]]:
    shown = zip(rows, cells, strict=True)
    return Counter((cell["age"], cell[ODD], row["s"], row["note"], row["n"]) for row, cell in shown)


def texts(cells: Sequence[tuple[Cell, ...]]) -> list[dict[str, str | None]]:
    return [
        {name: None if label is None else str(label) for name, (_, label) in zip((ODD, "age"), row, strict=True)}
        for row in cells
    ]


def ranges(rows: Sequence[Row], groups: Sequence[list[int]], apart: bool) -> list[dict[str, str | None]]:
    """What Mondrian publishes: ages as ranges, the other column at its closest common label."""
    table = oracle_recode.Table(rows, LEVELS, 0, apart)
    found: list[dict[str, str | None]] = [{} for _ in rows]
    for group in groups:
        above = table.generalized(group)
        assert above is not None
        label, ages = above[ODD][1], {rows[place]["age"] for place in group}
        span = "*" if None in ages and (apart or len(ages) > 1) else _span(ages)
        for place in group:
            found[place] = {ODD: None if label is None else str(label), "age": span}
    return found


def _span(ages: set[Any]) -> str | None:
    low, high = min(ages, key=str), max(ages, key=str)
    if low is None or low == high:
        return None if low is None else str(low)
    return f"[{min(ages)}, {max(ages)}]"


def recoded(engine: Engine, rows: Sequence[Row], required: Required, **options: Any) -> RecodeResult:
    return sqlaudit.recode(
        query=values_query(rows, COLUMNS),
        db=engine,
        qi=[ODD, "age"],
        sensitive="s",
        identifier="name",
        hierarchies=HIERARCHIES,
        require=[requirement_from(name, parameters) for name, parameters, _ in required],
        publish_sql=True,
        **options,
    )


def released(engine: Engine, made: RecodeResult) -> Counter[tuple[Any, ...]]:
    assert made.release is not None
    assert made.release.columns == ("age", ODD, "s", "note", "n")
    rows = engine.run(Statement("release", made.release.sql))
    return Counter((None if age is None else str(age), odd, s, note, n) for age, odd, s, note, n in rows)


ASKED = st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str)


@pytest.mark.usefixtures("unmeasured")
@run(15)
@given(st.data())
def test_kaca_publishes_what_the_plain_one_makes_of_rows(engine: Engine, data: st.DataObject) -> None:
    rows = data.draw(st.lists(ROW, min_size=1, max_size=9))
    required, nulls = data.draw(ASKED), data.draw(st.sampled_from(["equal", "distinct"]))
    order = data.draw(st.sampled_from(["smallest", "random"]))
    seed = data.draw(st.integers(0, 3)) if order == "random" else None
    made = recoded(engine, rows, required, order=order, seed=seed, nulls=nulls, lattice=False)
    wanted = oracle_recode.kaca(
        rows, LEVELS, phases(rows, required), order=order, seed=seed or 0, apart=nulls == "distinct"
    )
    if wanted is None:
        assert (made.release, made.groups, len(made.why) > 0) == (None, None, True)
        return
    cells, merges = wanted
    assert (made.merges, made.groups) == (merges, len(set(cells)))
    assert released(engine, made) == published(rows, texts(cells))


@pytest.mark.usefixtures("unmeasured")
@run(15)
@given(st.data())
def test_mondrian_publishes_what_the_plain_one_makes_of_rows(engine: Engine, data: st.DataObject) -> None:
    rows = data.draw(st.lists(ROW, min_size=1, max_size=9))
    required, nulls = data.draw(ASKED), data.draw(st.sampled_from(["equal", "distinct"]))
    made = recoded(engine, rows, required, method="mondrian", nulls=nulls, lattice=False)
    apart = nulls == "distinct"
    groups = oracle_recode.mondrian(rows, LEVELS, ["age"], falls_short(rows, required), apart=apart)
    if groups is None:
        assert (made.release, made.groups, len(made.why) > 0) == (None, None, True)
        return
    assert made.groups == len(groups)
    assert released(engine, made) == published(rows, ranges(rows, groups, apart))


PEOPLE = pd.DataFrame(
    {
        "id": range(12),
        "age": [31, 31, 34, 38, 38, 52, 57, 58, 59, 71, 72, None],
        "sex": list("ffmmfmfmfmfm"),
        "zip": [
            "13053",
            "13068",
            "13053",
            "13053",
            "14850",
            "14850",
            "14853",
            "14853",
            "14850",
            "13068",
            "13068",
            "14850",
        ],
        "dx": ["flu", "cold", "flu", "flu", "ulcer", "ulcer", "cold", "flu", "flu", "cold", "flu", "ulcer"],
        "job": list("abcabcabcabc"),
    }
)
AGE = {"age": {"widths": [10, 20]}}
HIERARCHY = {**AGE, "zip": {"mask": [1, 2, 3]}}


@pytest.mark.parametrize(("method", "sensitive"), [("kaca", ("dx", "job")), ("mondrian", ())])
def test_losses_are_those_that_compare_finds_with_all_rows_paired(
    method: str, sensitive: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "release.csv"
    qi = ["age", "sex", "zip"]
    made = sqlaudit.recode(
        PEOPLE,
        qi=qi,
        sensitive=sensitive,
        require={"k": 2},
        hierarchies=HIERARCHY,
        method=method,
        to=file,
        keep_column="id",
        lattice=False,
    )
    release = pd.read_csv(file, dtype=str).astype({"id": int})
    found = sqlaudit.compare(PEOPLE, release, qi=qi, sensitive=sensitive, key="id", hierarchies=HIERARCHY, workload=0)
    assert found.generalization.answer.value == "yes"
    wanted = {
        (one.measure, one.column, one.sensitive): (one.value, one.share)
        for one in found.losses
        if one.column is None or one.measure in {"whd", "loss", "entropy"}
    }
    own = {(one.measure, one.column, one.sensitive): (one.value, one.share) for one in made.losses}
    assert set(wanted) <= set(own)
    for key, (value, share) in wanted.items():
        for number, expected in zip(own[key], (value, share), strict=True):
            assert number == (None if expected is None else pytest.approx(expected, rel=1e-9)), key


def test_the_best_node_is_measured_alike(tmp_path: Path) -> None:
    qi = ["age", "sex", "zip"]
    made = sqlaudit.recode(PEOPLE, qi=qi, sensitive="dx", require={"k": 3}, hierarchies=HIERARCHY, measure="entropy")
    node = sqlaudit.lattice(
        PEOPLE,
        qi=qi,
        require={"k": 3},
        hierarchies=HIERARCHY,
        measure="entropy",
        to=tmp_path / "n.csv",
        keep_column="id",
    )
    found = sqlaudit.compare(
        PEOPLE,
        pd.read_csv(tmp_path / "n.csv", dtype=str),
        qi=qi,
        sensitive="dx",
        hierarchies=HIERARCHY,
        measures=["entropy", "loss", "discernibility"],
        workload=0,
    )
    assert made.beside is not None
    assert node.best is not None
    assert (made.beside.measure, made.beside.levels) == ("entropy", node.best.levels)
    beside = {one.measure: one.value for one in made.beside.losses if one.column is None}
    for name in ("entropy", "loss", "discernibility"):
        assert beside[name] == pytest.approx(found.loss(name).value)
    assert beside["entropy"] == pytest.approx(node.best.loss)


@pytest.mark.parametrize("method", ["kaca", "mondrian"])
def test_a_result_says_what_was_made_of_the_classes(method: str) -> None:
    made = sqlaudit.recode(
        PEOPLE, qi=["age", "sex", "zip"], sensitive="dx", require=["k=3", "l=2"], hierarchies=HIERARCHY, method=method
    )
    assert (made.rows, made.classes, made.passed) == (12, 12, True)
    assert made.smallest is not None
    assert made.smallest >= 3
    assert made.release is not None
    assert (made.release.rows, made.release.unnamed) == (12, ("id", "job"))
    assert made.release.audit.status == "pass"
    for column in made.columns:
        assert sum(rows for _, rows in column.rows_at) == 12
    validator("recode").validate(made.to_dict())
    assert "12 classes were recoded into" in made._repr_html_()


@pytest.mark.usefixtures("unmeasured")
def test_kept_columns_stay_and_dropped_ones_go() -> None:
    made = sqlaudit.recode(
        PEOPLE,
        qi=["age", "sex", "zip"],
        require={"k": 4},
        hierarchies={**HIERARCHY, "sex": "keep", "zip": "drop"},
        publish_sql=False,
        lattice=False,
    )
    assert made.release is not None
    assert "zip" not in made.release.columns
    assert {column.name: column.rows_at[0] for column in made.columns if column.name == "sex"} == {
        "sex": ("unchanged", 12)
    }
    refused = sqlaudit.recode(
        PEOPLE, qi=["age", "sex"], require={"k": 7}, hierarchies={**AGE, "sex": "keep"}, lattice=False
    )
    assert (refused.passed, refused.why) == (
        False,
        ("k=7 fails even for rows with the same sex (unchanged), so no recoding can meet it.",),
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("method", ["kaca", "mondrian"])
def test_dates_numbers_and_expressions_are_recoded(engine: Engine, method: str) -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 5), datetime.date(2021, 3, 1), datetime.date(2021, 3, 9)]
    rows = [{"d": day, "x": x, "t": t} for day, x, t in zip(days, [1.5, 2.25, 7.0, -1.0], "aabB", strict=True)]
    made = sqlaudit.recode(
        query=values_query(rows, {"d": "date", "x": "float", "t": "text"}),
        db=engine,
        qi=["d", "x", "lower(t)"],
        require={"k": 2},
        hierarchies={"d": {"dates": ["month", "year"]}},
        method=method,
        publish_sql=True,
        lattice=False,
    )
    assert made.release is not None
    found = sorted(engine.run(Statement("release", made.release.sql)))
    assert [row[0] for row in found] == ["a", "a", "b", "b"]
    wanted = {
        "kaca": [("2020-01", "[0, 4)"), ("2021-03", "*")],  # default widths of x: 0.5, 1, 2, 4
        "mondrian": [("[2020-01-01, 2020-01-05]", "[1.5, 2.25]"), ("[2021-03-01, 2021-03-09]", "[-1.0, 7.0]")],
    }[method]
    shown = sorted({(row[1], row[2].replace("-1,", "-1.0,").replace("7]", "7.0]")) for row in found})
    assert shown == wanted


def test_nothing_is_published_when_time_is_over(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    with pytest.raises(Incomplete, match="unfinished recoding is not safe, so nothing was published"):
        sqlaudit.recode(PEOPLE, qi=["age"], require={"k": 2}, hierarchies=AGE, time_budget=0, to=file, keep_column="id")
    assert not file.exists()


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("nulls='wildcard'", {"nulls": "wildcard"}),
    ("joint=True", {"joint": True, "sensitive": ["dx", "job"]}),
    ("12 rows are about 2 people", {"entity": "sex"}),
    ("about the whole table", {"require": "average_risk=0.2"}),
    ("about the whole table", {"require": "disclosure=c:0.9,k:1"}),
    ("order= and beta= need method='kaca'", {"method": "mondrian", "beta": 1}),
    ("seed= needs order='random'", {"seed": 3}),
    ("beta= must be a number of 0 or more", {"beta": -1}),
    ("There is no measure 'los'", {"measure": "los"}),
    ("zip, level 1", {"hierarchies": {"zip": {"values": {"13053": ["a"]}}}, "qi": ["zip"]}),
    ("Every quasi-identifier is dropped", {"hierarchies": {"zip": "drop"}, "qi": ["zip"]}),
    ("is kept and has missing values", {"hierarchies": {"age": "keep"}, "qi": ["age"], "nulls": "distinct"}),
]


@pytest.mark.parametrize(("sentence", "options"), REFUSED)
def test_what_has_no_meaning_is_refused_in_a_sentence(sentence: str, options: dict[str, Any]) -> None:
    asked = {"qi": ["age", "zip"], "sensitive": "dx", "require": {"k": 2}, "hierarchies": HIERARCHY} | options
    with pytest.raises(UsageError, match=sentence):
        sqlaudit.recode(PEOPLE, lattice=False, **asked)


def test_many_sensitive_values_are_refused_where_they_must_be_counted() -> None:
    people = pd.DataFrame({"age": [1, 2] * 201, "s": range(402)})
    with pytest.raises(UsageError, match="402 different values, more than the 200 that recode supports"):
        sqlaudit.recode(people, qi=["age"], sensitive="s", require={"l": 2}, lattice=False)
    made = sqlaudit.recode(people, qi=["age"], sensitive="s", require={"k": 2}, lattice=False)
    assert (made.groups, made.loss("variance-loss").value) == (2, None)


@pytest.mark.usefixtures("unmeasured")
def test_a_person_in_each_row_may_be_named(tmp_path: Path) -> None:
    made = sqlaudit.recode(
        PEOPLE,
        qi=["age", "sex"],
        sensitive="dx",
        entity="id",
        require=["k=3", "l=2"],
        hierarchies=AGE,
        to=tmp_path / "r.csv",
    )
    assert made.release is not None
    assert made.release.audit.status == "pass"
    assert "id" not in pd.read_csv(tmp_path / "r.csv").columns


def test_one_row_and_no_row() -> None:
    one = sqlaudit.recode(PEOPLE[:1], qi=["age", "sex"], require={"k": 1}, hierarchies=AGE)
    assert (one.groups, one.merges, one.loss("loss").value) == (1, 0, 0)
    two = sqlaudit.recode(PEOPLE[:1], qi=["age", "sex"], require={"k": 2}, hierarchies=AGE)
    assert two.why == ("k=2 fails even for all rows together, so no recoding can meet it.",)
    none = sqlaudit.recode(PEOPLE[:0].astype({"age": float}), qi=["age", "sex"], require={"k": 1}, hierarchies=AGE)
    assert (none.rows, none.why) == (0, ("frame has no rows.",))


def test_classes_that_are_safe_stay_as_they_are() -> None:
    people = pd.DataFrame({"a": [1] * 5 + [2] * 5 + [3], "b": ["x"] * 11})
    made = sqlaudit.recode(people, qi=["a", "b"], require={"k": 5}, hierarchies={"a": {"widths": [2]}}, lattice=False)
    assert (made.classes, made.groups, made.merges) == (3, 2, 1)
    assert dict(made.columns[0].rows_at) == {"unchanged": 5, "width 2": 6, "*": 0}
    assert made.loss("whd").value == Fraction(6, 2)
