"""How sensitive values are spread in the worst classes: against brute force, the same on every engine, hidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from sqlaudit.audits.classes import WorstClasses
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.spec import Requirement
from sqlaudit.classes import histogram
from sqlaudit.models.registry import REGISTRY
from tests import oracle
from tests.audits.test_audit_oracle import audited
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.strategies import Case, cases, run

AuditOn = Callable[..., AuditResult]
SEEN: dict[str, Any] = {}
"""What the first engine said of a case, by the case's text."""


def lanes_of(table: oracle.Table) -> list[Any]:
    """The values by rank: in their order, missing last."""
    given = [value for value in table.totals if value is not None]
    return sorted(given, key=oracle.rank_of) + ([None] if None in table.totals else [])


def blamed(case: Case, table: oracle.Table) -> list[oracle.Group]:
    """The classes that fall short of a requirement on the sensitive attribute."""
    failing: list[oracle.Group] = []
    for requirement in case.require:
        expected = oracle.MODELS[requirement.model](table, **requirement.parameters)
        if REGISTRY[requirement.model].needs_sensitive and expected.holds is False:
            failing += [group for group in expected.failing if not any(group is one for one in failing)]
    return failing


def worst(case: Case) -> tuple[str, list[tuple[Any, ...]]]:
    """The basis, and (size, rows, classes, counts by lane) of up to three classes, straight from their description."""
    table = case.table()
    lanes = lanes_of(table)
    failing = blamed(case, table)
    chosen = failing or [group for group in table.groups if group.size >= 2]
    alike: dict[tuple[Any, ...], int] = {}
    for group in chosen:
        cells = tuple((lane, group.counts[value]) for lane, value in enumerate(lanes) if group.counts.get(value))
        spread = (len(cells), -max(count for _, count in cells) / group.n)
        order = ((-group.size,) if failing else ()) + (*spread, -group.size, -group.n, -group.rows, cells)
        kind = (order, group.size, group.rows, cells)
        alike[kind] = alike.get(kind, 0) + 1
    found = []
    for (_, size, rows, cells), classes in sorted(alike.items())[:3]:
        counts = dict(cells)
        found.append((size, rows, classes, tuple(counts.get(lane, 0) for lane in range(len(lanes)))))
    return "failing" if failing else "least_diverse", found


def assert_right(result: AuditResult, case: Case) -> None:
    table = case.table()
    basis, expected = worst(case)
    if case.sensitive is None or not expected:
        assert result.worst_classes == ()
        return
    [found] = result.worst_classes
    lanes = lanes_of(table)
    ranked = sorted(range(len(lanes)), key=lambda lane: (-table.totals[lanes[lane]], lane))
    assert (found.sensitive, found.basis) == (case.sensitive, basis)
    assert [(v.rank, v.values, v.total, v.share, v.shown, v.value) for v in found.values] == [
        (rank, 1, table.totals[lanes[lane]], table.share(lanes[lane]), False, None)
        for rank, lane in enumerate(ranked, 1)
    ]
    assert [(c.size, c.rows, c.classes, c.counts, c.key) for c in found.classes] == [
        (size, rows, classes, tuple(counts[lane] for lane in ranked), None) for size, rows, classes, counts in expected
    ]


def assert_alike(result: AuditResult, case: Case, form: str) -> None:
    said = [found.to_dict() for found in result.worst_classes]
    assert said == SEEN.setdefault(form + repr(case), said)


@given(case=cases(rows=12))
@run(80, some=10)
def test_the_worst_classes_are_those_of_brute_force(audit_on: AuditOn, case: Case) -> None:
    result = audited(audit_on, case)
    assert_right(result, case)
    assert_alike(result, case, "packed")


@given(case=cases(rows=12))
@run(30, some=4)
def test_lists_of_cells_say_the_same(audit_on: AuditOn, case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "PACKED_VALUES", 0)
        result = audited(audit_on, case)
    assert_right(result, case)
    assert_alike(result, case, "cells")


@given(case=cases("wildcard", rows=10))
@run(30, some=4)
def test_rows_that_match_are_classes_too(audit_on: AuditOn, case: Case) -> None:
    result = audited(audit_on, case)
    assert_right(result, case)
    assert_alike(result, case, "wildcard")


@given(case=cases(rows=12))
@run(30, some=4)
def test_figures_without_requirements_show_the_least_diverse(audit_on: AuditOn, case: Case) -> None:
    bare = replace(case, require=[])
    assert_right(audited(audit_on, bare), bare)


SECRET = "Zaphod-Beeblebrox"
KINDS = {"a": "text", "b": "int", "s": "text", "p": "int"}


def spread(classes: dict[Any, dict[Any, int]]) -> list[dict[str, Any]]:
    """Rows from {(a, b): {s: count}}, one person each."""
    rows = [{"a": a, "b": b, "s": s} for (a, b), counts in classes.items() for s, c in counts.items() for _ in range(c)]
    return [{**row, "p": place} for place, row in enumerate(rows)]


ROWS = spread(
    {
        (SECRET, 1): {SECRET + " disease": 3},
        ("x", 1): {"flu": 3},
        ("y", 1): {"flu": 3},
        ("z", None): {"flu": 2, None: 2},
        ("w", 2): {"flu": 4, "cold": 1},
        ("single", 9): {"cold": 1},
    }
)


def only(result: AuditResult) -> WorstClasses:
    [found] = result.worst_classes
    return found


@pytest.fixture(params=["packed", "cells"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "cells":
        monkeypatch.setattr(histogram, "PACKED_VALUES", 0)
    return str(request.param)


@pytest.mark.usefixtures("form")
def test_without_values_they_are_ranks(audit_on: AuditOn) -> None:
    result = audit_on(ROWS, KINDS, qi=["a", "b"], sensitive="s")
    found = only(result)
    assert found.basis == "least_diverse"
    assert [(v.rank, v.total, v.share) for v in found.values] == [
        (1, 12, Fraction(12, 19)),
        (2, 3, Fraction(3, 19)),
        (3, 2, Fraction(2, 19)),
        (4, 2, Fraction(2, 19)),
    ]
    assert [(c.size, c.classes, c.counts) for c in found.classes] == [
        (3, 1, (0, 3, 0, 0)),
        (3, 2, (3, 0, 0, 0)),
        (5, 1, (4, 0, 1, 0)),
    ]
    assert found.classes[2].shares == (Fraction(4, 5), 0, Fraction(1, 5), 0)
    assert SECRET not in str(result.to_dict()) + repr(result) + repr(found)
    [sql] = [timing.sql for timing in result.statements if "distribution in the worst classes" in timing.name]
    # the table itself is a query of texts here: what the template adds must hold none
    assert SECRET not in sql.split("SELECT")[-1]


@pytest.mark.usefixtures("form")
def test_with_values_classes_stand_alone_under_their_keys(audit_on: AuditOn) -> None:
    found = only(audit_on(ROWS, KINDS, qi=["a", "b"], sensitive="s", show_values=True))
    assert [(v.shown, v.value) for v in found.values] == [
        (True, "flu"),
        (True, SECRET + " disease"),
        (True, "cold"),
        (True, None),
    ]
    assert [(c.key, c.classes, c.counts) for c in found.classes] == [
        ({"a": SECRET, "b": 1}, 1, (0, 3, 0, 0)),
        ({"a": "x", "b": 1}, 1, (3, 0, 0, 0)),
        ({"a": "y", "b": 1}, 1, (3, 0, 0, 0)),
    ]
    assert found.to_dict()["values"][3] == {"rank": 4, "values": 1, "total": 2, "share": 2 / 19, "value": None}


@pytest.mark.usefixtures("form")
def test_failing_classes_come_largest_first(audit_on: AuditOn) -> None:
    request = {"qi": ["a", "b"], "sensitive": "s", "require": ["k=2", "entropy_l=2"]}
    found = only(audit_on(ROWS, KINDS, **request))
    assert (found.basis, [(c.size, c.rows, c.classes) for c in found.classes]) == (
        "failing",
        [(5, 5, 1), (3, 3, 1), (3, 3, 2)],
    )
    keyed = only(audit_on(ROWS, KINDS, **request, show_values=True))
    assert [dict(c.key or {}) for c in keyed.classes] == [{"a": "w", "b": 2}, {"a": SECRET, "b": 1}, {"a": "x", "b": 1}]
    by_size = only(audit_on(ROWS, KINDS, qi=["a", "b"], sensitive="s", require=["k=4", "l=1"]))
    assert by_size.basis == "least_diverse"  # no requirement on the sensitive column fails


def test_requirements_without_a_text_are_told_apart_by_their_models(audit_on: AuditOn) -> None:
    required = [Requirement("k_anonymity", {"k": 5}), Requirement("distinct_l_diversity", {"l": 2})]
    found = only(audit_on(ROWS, KINDS, qi=["a", "b"], sensitive="s", require=required))
    assert (found.basis, [(c.size, c.classes) for c in found.classes]) == ("failing", [(3, 1), (3, 2), (1, 1)])


@pytest.mark.usefixtures("form")
def test_of_many_values_the_rare_ones_are_told_together(audit_on: AuditOn) -> None:
    rows = [{"a": place % 2, "s": place} for place in range(30)] + [{"a": 0, "s": value} for value in range(10, 26)]
    found = only(audit_on(rows, {"a": "int", "s": "int"}, qi=["a"], sensitive="s", show_values=True))
    assert [(v.rank, v.values, v.total, v.value) for v in found.values] == [
        *((rank, 1, 2, 9 + rank) for rank in range(1, 13)),
        (None, 18, 22, None),
    ]
    assert [(c.size, c.counts) for c in found.classes] == [(15, (*(0, 1) * 6, 9)), (31, (*(2, 1) * 6, 13))]
    assert found.to_dict()["values"][12] == {"rank": None, "values": 18, "total": 22, "share": 22 / 46}


def test_persons_count_once_for_each_of_their_values(audit_on: AuditOn) -> None:
    rows = [{"a": "x", "b": 1, "s": s, "p": p} for s, p in [("flu", 1), ("flu", 1), ("cold", 1), ("flu", 2)]]
    [found] = only(audit_on(rows, KINDS, qi=["a", "b"], sensitive="s", entity="p", require=[])).classes
    assert (found.size, found.rows, found.counts) == (2, 4, (2, 1))
    assert found.shares == (Fraction(2, 3), Fraction(1, 3))


def test_each_attribute_has_its_own_and_joint_ones_have_other_classes(audit_on: AuditOn) -> None:
    rows = [{"a": 1, "s": s, "r": r} for s, r in [("x", 1), ("x", 1), ("y", 1), ("y", 2)]]
    request = {"qi": ["a"], "sensitive": ["s", "r"]}
    apart = audit_on(rows, {"a": "int", "s": "text", "r": "int"}, **request).worst_classes
    assert [(f.sensitive, [c.counts for c in f.classes]) for f in apart] == [("s", [(2, 2)]), ("r", [(3, 1)])]
    joint = audit_on(rows, {"a": "int", "s": "text", "r": "int"}, **request, joint=True, show_values=True).worst_classes
    assert [(f.sensitive, [(c.key, c.counts) for c in f.classes]) for f in joint] == [
        ("s", [({"a": 1, "r": 1}, (2, 1))]),
        ("r", [({"a": 1, "s": "x"}, (2, 0)), ({"a": 1, "s": "y"}, (1, 1))]),
    ]


def test_a_missing_value_of_its_own_class_is_not_merged_with_keys(audit_on: AuditOn) -> None:
    rows = [{"a": None, "b": 1, "s": "x"}] * 3 + [{"a": "y", "b": 1, "s": "x"}] * 2
    found = only(
        audit_on(
            rows,
            {"a": "text", "b": "int", "s": "text"},
            qi=["a"],
            sensitive="s",
            nulls="distinct",
            require=["l=2"],
            show_values=True,
        )
    )
    assert [(c.size, c.key) for c in found.classes] == [(2, {"a": "y"}), (1, {"a": None}), (1, {"a": None})]


def test_without_classes_there_is_nothing_to_tell(audit_on: AuditOn) -> None:
    assert audit_on([], {"a": "int", "s": "int"}, qi=["a"], sensitive="s").worst_classes == ()
    assert audit_on([{"a": 1, "s": 2}], {"a": "int", "s": "int"}, qi=["a"], sensitive="s").worst_classes == ()
    assert audit_on([{"a": 1}] * 2, {"a": "int"}, qi=["a"]).worst_classes == ()
