"""Which classes fail, in what order and with which keys; several sensitive attributes; limits that are met exactly."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import sqlaudit
from sqlaudit.audits.report import failing_table
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Status
from sqlaudit.classes import histogram
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import parse_requirement
from tests import oracle
from tests.audit_values import values_query
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.few import ALL

AuditOn = Callable[..., AuditResult]
TEXT = {"a": "text", "b": "int", "s": "text"}


def spread(classes: dict[Any, dict[Any, int]]) -> list[dict[str, Any]]:
    """Rows from {(a, b): {s: count}}."""
    return [{"a": a, "b": b, "s": s} for (a, b), counts in classes.items() for s, c in counts.items() for _ in range(c)]


ROWS = spread(
    {
        ("Zoë", 1): {"flu": 1},
        ("adam", 1): {"flu": 1},
        ("Zoë", None): {"flu": 1},
        (None, 2): {"flu": 1, "cold": 1},
        ("éa", 3): {"flu": 2},
        ("b", 1): {"flu": 2, "cold": 3, "HIV": 1},
    }
)


@pytest.fixture(params=["packed", "cells"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "cells":
        monkeypatch.setattr(histogram, "PACKED_VALUES", 0)
    return str(request.param)


@pytest.mark.usefixtures("form")
def test_failing_classes_come_smallest_first_and_by_code_point(audit_on: AuditOn) -> None:
    result = audit_on(ROWS, TEXT, qi=["a", "b"], sensitive="s", require=["k=3", "l=2"], show_values=True)
    found = [(item.size, dict(item.key or {}), item.fails) for item in result.failing]
    assert found == [
        (1, {"a": "Zoë", "b": 1}, ("k=3", "l=2")),
        (1, {"a": "Zoë", "b": None}, ("k=3", "l=2")),
        (1, {"a": "adam", "b": 1}, ("k=3", "l=2")),
        (2, {"a": "éa", "b": 3}, ("k=3", "l=2")),
        (2, {"a": None, "b": 2}, ("k=3",)),
    ]
    assert result.failing_total == 5
    assert [item.figures["distinct_values"] for item in result.failing] == [1, 1, 1, 1, 2]
    assert all(item.classes == 1 and item.rows == item.size for item in result.failing)


@pytest.mark.usefixtures("form")
def test_only_as_many_as_were_asked_for_but_all_are_counted(audit_on: AuditOn) -> None:
    request = {"qi": ["a", "b"], "sensitive": "s", "require": ["k=3", "l=2"]}
    two = audit_on(ROWS, TEXT, **request, show_values=True, failing_classes=2)
    assert [item.key["b"] for item in two.failing if item.key] == [1, None]
    assert two.failing_total == 5
    none = audit_on(ROWS, TEXT, **request, failing_classes=0)
    assert (none.failing, none.failing_total) == ((), 5)
    one = audit_on(ROWS, TEXT, **{**request, "require": ["l=2"]}, failing_classes=0)
    assert (one.failing, one.failing_total) == ((), 4)


def test_without_values_no_key_is_read(audit_on: AuditOn) -> None:
    result = audit_on(ROWS, TEXT, qi=["a", "b"], sensitive="s", require=["k=3"])
    assert all(item.key is None for item in result.failing)
    assert sum(item.classes for item in result.failing) == result.failing_total == 5
    assert sum(item.classes * item.rows for item in result.failing) == 7
    assert "Zoë" not in repr(result)


def test_each_missing_value_may_be_a_class_of_its_own(audit_on: AuditOn) -> None:
    rows = [{"a": None, "b": 1, "s": "x"}] * 3 + [{"a": "y", "b": 1, "s": "x"}] * 2
    result = audit_on(rows, TEXT, qi=["a", "b"], nulls="distinct", require=["k=2"], show_values=True)
    assert [(item.size, dict(item.key or {})) for item in result.failing] == [(1, {"a": None, "b": 1})] * 3
    assert (result.classes.sizes, result.failing_total) == (((1, 3), (2, 1)), 3)


def test_what_a_row_with_a_missing_value_matches(audit_on: AuditOn) -> None:
    rows = [{"a": None, "b": 1, "s": "x"}] * 2 + [{"a": "y", "b": 1, "s": "z"}] + [{"a": "y", "b": 2, "s": "x"}]
    result = audit_on(
        rows, TEXT, qi=["a", "b"], sensitive="s", nulls="wildcard", require=["k=3", "l=2"], show_values=True
    )
    assert result.classes.per_row
    assert result.classes.sizes == ((1, 1), (3, 3))
    assert [(item.size, dict(item.key or {}), item.fails) for item in result.failing] == [
        (1, {"a": "y", "b": 2}, ("k=3", "l=2"))
    ]
    assert result.sensitive[0].form == "wildcard"


@pytest.mark.parametrize("model", ["t=0.5", "entropy_l=2", "average_risk=0.5", "beta=1", "alpha=0.5"])
def test_models_without_a_meaning_for_overlapping_classes_are_refused(audit_on: AuditOn, model: str) -> None:
    with pytest.raises(UsageError, match="groups overlap"):
        audit_on(ROWS, TEXT, qi=["a", "b"], sensitive="s", nulls="wildcard", require=[model])


def test_a_requirement_that_only_warns(audit_on: AuditOn) -> None:
    strict = parse_requirement("k=1")
    warn = parse_requirement("k=3", severity="warn")
    result = audit_on(ROWS, TEXT, qi=["a", "b"], require=[strict, warn])
    assert [check.status for check in result.checks] == [Status.PASS, Status.WARN]
    assert (result.status, result.passed, result.failing_total) == (Status.WARN, True, 5)
    assert result.checks[1].failing_classes == 5


def test_figures_of_the_whole_table_blame_classes_only_when_they_fail(audit_on: AuditOn) -> None:
    passing = audit_on(ROWS, TEXT, qi=["a", "b"], require=["sample_uniqueness=0.5", "average_risk=1"])
    assert (passing.status, passing.failing_total, passing.failing) == (Status.PASS, 0, ())
    failing = audit_on(ROWS, TEXT, qi=["a", "b"], require=["sample_uniqueness=0.1"])
    assert (failing.failing_total, sum(item.classes for item in failing.failing)) == (3, 3)


# --- several sensitive attributes ---

TWO = [
    {"a": a, "s": s, "r": r}
    for a, s, r in [(1, "x", 1), (1, "y", 1), (1, "x", 1), (2, "x", 1), (2, "y", 2), (2, "y", 1), (2, "x", 2)]
]
TWO_KINDS = {"a": "int", "s": "text", "r": "int"}


def test_each_sensitive_attribute_is_audited_on_its_own(audit_on: AuditOn) -> None:
    result = audit_on(TWO, TWO_KINDS, qi=["a"], sensitive=["s", "r"], require=["k=4", "l=2"])
    assert [(c.model, c.sensitive, c.level, c.status) for c in result.checks] == [
        ("k_anonymity", None, 3, "fail"),
        ("distinct_l_diversity", "s", 2, "pass"),
        ("distinct_l_diversity", "r", 1, "fail"),
    ]
    assert [(f.sensitive, f.fails) for f in result.failing] == [(None, ("k=4",)), ("r", ("l=2",))]
    assert result.failing_total == 2
    assert [(s.name, s.distinct) for s in result.sensitive] == [("s", 2), ("r", 2)]


def test_classes_that_look_alike_are_one_line_however_few_lines_are_asked_for(audit_on: AuditOn) -> None:
    """30 classes of 2 rows, all different in their values: one line, and not as many classes as lines were wanted."""
    rows = [{"a": a, "s": a + b} for a in range(30) for b in range(2)]
    rows += [{"a": 100, "s": s} for s in range(3)]
    result = audit_on(
        rows, {"a": "int", "s": "int"}, qi=["a"], sensitive="s", require=["k=4", "l=4"], failing_classes=1
    )
    assert [(item.size, item.classes, item.sensitive, item.fails) for item in result.failing] == [
        (2, 30, "s", ("k=4", "l=4"))
    ]
    assert result.failing_total == 31
    only_sizes = audit_on(rows, {"a": "int", "s": "int"}, qi=["a"], sensitive="s", require=["k=3", "l=2"])
    assert [(item.classes, item.sensitive) for item in only_sizes.failing] == [(30, None)]


def test_a_class_that_falls_short_for_two_attributes_is_listed_for_each(audit_on: AuditOn) -> None:
    result = audit_on(
        TWO, TWO_KINDS, qi=["a"], sensitive=["s", "r"], require=["k=4", "l=3"], show_values=True, failing_classes=None
    )
    assert [(item.sensitive, item.fails, (item.key or {})["a"]) for item in result.failing] == [
        (None, ("k=4",), 1),
        ("s", ("l=3",), 1),
        ("r", ("l=3",), 1),
        ("s", ("l=3",), 2),
        ("r", ("l=3",), 2),
    ]
    assert result.failing_total == sum(check.failing_classes or 0 for check in result.checks) == 5


def test_what_each_class_is_told_of(audit_on: AuditOn) -> None:
    """Disclosure, people of the population, shares and beliefs: figures of the class itself."""
    rows = [{"a": 1, "s": "x"}, {"a": 1, "s": "y"}, {"a": 2, "s": "x"}, {"a": 2, "s": "x"}]
    people = [*rows, {"a": 1, "s": "x"}, {"a": 1, "s": "y"}, {"a": 3, "s": "y"}]
    inputs = {
        "population": {"query": values_query(people, {"a": "int", "s": "text"})},
        "original_qi": ["a"],
        "class_function": {"x": "0", "y": "3"},
        "width": "1",
    }
    require = ["journalist_risk=0.3", "delta_presence=max:0.5,min:0.1", "belief=0.9", "disclosure@0=0.4", "psi=1"]
    result = audit_on(
        rows, {"a": "int", "s": "text"}, qi=["a"], sensitive="s", require=require, inputs=inputs, show_values=True
    )
    density = 1 / math.sqrt(2 * math.pi)
    near = density * (1 + math.exp(-4.5))
    told = {item.key["a"]: (item.size, item.rows, item.fails, item.figures) for item in result.failing if item.key}
    assert told[1][:3] == (2, 2, (require[3], require[4]))
    assert told[2][:3] == (2, 2, tuple(require))
    assert told[3][:3] == (0, 0, (require[1],))
    names = ("people_in_population", "share_of_population", "highest_belief", "disclosure", "psi_lowest")
    assert [told[1][3][name] for name in names] == pytest.approx([4, 0.5, 0.5, 0.5, near])
    assert [told[2][3][name] for name in names] == pytest.approx([2, 1, 1, 1, 2 * density])
    assert [told[3][3][name] for name in names] == [1, 0, None, None, None]


def test_a_class_is_told_of_its_categories_and_its_range(audit_on: AuditOn) -> None:
    """Which category is too large: by number, and by its name only where values may be shown."""
    held = {1: "xxxyw", 2: "yyzwv"}
    rows = [{"a": a, "s": s} for a, values in held.items() for s in values]
    inputs = {
        "categories": {"x or z": ["x", "z"], "{y}": ["y", "z"]},
        "dont_care": ["w", "v"],
        "class_function": {"x": "0", "y": "1.5", "z": "2", "w": "4", "v": "4"},
    }
    require = ["density=0.5", "dilution=0.3", "range=3", "categorical_recursive=c:1,l:1", "c_l_density=c:1,l:2"]
    asked = {"qi": ["a"], "sensitive": "s", "require": require, "inputs": inputs}
    kinds = {"a": "int", "s": "text"}
    named = audit_on(rows, kinds, **asked, show_values=True)
    told = {item.key["a"]: item for item in named.failing if item.key}
    names = ["share of x or z", "share of {y}", "dont_care_share", "range", "largest_category_share"]
    names += ["share_that_1_categories_leave", "shares_from_category_2_on"]
    assert [told[1].figures[name] for name in names] == pytest.approx([0.6, 0.2, 0.2, 4, 0.6, 0.4, 0.2])
    assert [told[2].figures[name] for name in names] == pytest.approx([0.2, 0.6, 0.4, 2.5, 0.6, 0.4, 0.2])
    assert told[1].fails == ("density=0.5", "dilution=0.3", *require[3:])
    hidden = audit_on(rows, kinds, **asked)
    assert [list(item.figures)[:2] for item in hidden.failing] == [["share of category 1", "share of category 2"]] * 2
    assert "share of {y}: 0.6" in str(failing_table(named))
    assert "share of category 2: 0.6" in str(failing_table(hidden))


def test_numbers_that_are_the_values_stay_out_of_the_list(audit_on: AuditOn) -> None:
    rows = [{"a": 1, "s": s} for s in (70001, 70002)]
    result = audit_on(
        rows,
        {"a": "int", "s": "int"},
        qi=["a"],
        sensitive="s",
        require=["range=3"],
        inputs={"class_function": "identity"},
    )
    assert [(item.fails, dict(item.figures)) for item in result.failing] == [(("range=3",), {})]


def test_the_other_attributes_may_join_the_quasi_identifiers(audit_on: AuditOn) -> None:
    result = audit_on(
        TWO, TWO_KINDS, qi=["a"], sensitive=["s", "r"], joint=True, require=["k=2", "l=2"], show_values=True
    )
    assert [(c.model, c.sensitive, c.level, c.failing_classes) for c in result.checks] == [
        ("k_anonymity", "s", 2, 0),
        ("distinct_l_diversity", "s", 2, 0),
        ("k_anonymity", "r", 1, 1),
        ("distinct_l_diversity", "r", 1, 2),
    ]
    assert [(f.sensitive, dict(f.key or {})) for f in result.failing] == [
        ("r", {"a": 1, "s": "y"}),
        ("r", {"a": 1, "s": "x"}),
    ]
    for name, other in [("s", "r"), ("r", "s")]:
        table = oracle.table_of(TWO, ["a", other], name)
        [check] = [c for c in result.checks if c.model == "distinct_l_diversity" and c.sensitive == name]
        assert check.level == oracle.distinct_l_diversity(table, 2).level


# --- expressions, kinds and names ---


def test_expressions_as_quasi_identifiers_and_sensitive_attributes(audit_on: AuditOn, engine: Engine) -> None:
    born = [datetime.date(1980, 1, 2), datetime.date(1980, 5, 6), datetime.date(1981, 1, 1)]
    rows = [{"birth": d, "s": s} for d, s in zip(born, ["Flu", "flu", "HIV"], strict=True)]
    year = "year(birth)" if engine.dialect == "duckdb" else "extract(year from birth)"
    result = audit_on(
        rows, {"birth": "date", "s": "text"}, qi=[year], sensitive="lower(s)", require=["k=2", "l=2"], show_values=True
    )
    assert [check.level for check in result.checks] == [1, 1]
    assert [(item.size, dict(item.key or {})) for item in result.failing] == [(1, {year: 1981}), (2, {year: 1980})]
    assert result.sensitive[0].distinct == 2


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("float", [math.nan, 1.5, -math.inf, math.inf, 0.0, -0.0, None]),
        ("decimal", [Decimal("1.0"), Decimal("1.0000"), Decimal("-9999999999999999.9999"), None]),
        ("bool", [True, False, None]),
        ("date", [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
        ("int", [-(2**63), 2**63 - 1, 0]),
        ("text", ["", " ", "x" * 10_000, "x" * 10_000 + "y", "'; DROP TABLE t; --", '"', "\\", "😀", "Z", "a", "é"]),
    ],
)
def test_values_of_every_kind(audit_on: AuditOn, kind: str, values: list[Any], form: str) -> None:
    rows = [{"a": i % 2, "s": v, "q": v} for i in range(5) for v in values[: 2 + i % 3] + values[-1:]]
    columns = {"a": "int", "s": kind, "q": kind}
    ordered = kind != "text" and None not in values
    requests = ["l=2", "entropy_l=2", "t=0.3", "beta=0.5", *(["t_ordered=0.2"] if ordered else [])]
    table = oracle.table_of(rows, ["a"], "s")
    result = audit_on(rows, columns, qi=["a"], sensitive="s", values="exact", require=requests)
    assert result.sensitive[0].distinct == len(table.totals)
    for check, request in zip(result.checks, requests, strict=True):
        known = oracle.MODELS[check.model](table, **parse_requirement(request).parameters)
        assert float(check.level or 0) == pytest.approx(float(known.level), rel=1e-12, abs=1e-12)
        assert check.failing_rows == known.failing_rows
    if form == "packed":  # without a sensitive attribute there is one form
        by_value = audit_on(rows, columns, qi=["q"], require=["k=1"])
        assert by_value.classes.count == len(oracle.table_of(rows, ["q"], None).groups)


ODD = ["select", 'a "quoted"; name', "q1", "s", "n", "e", "solo", "Größe 😀", "lane", "c0"]


@pytest.mark.parametrize("names", [[name] for name in ODD] if ALL else [ODD[::2], ODD[1::2]], ids="-".join)
def test_columns_may_have_any_name(audit_on: AuditOn, names: list[str]) -> None:
    values = enumerate([("x", 1), ("x", 2), ("y", 1), (None, 1)])
    rows = [{**dict.fromkeys(names, v), "c": s, "p": i} for i, (v, s) in values]
    kinds = {**dict.fromkeys(names, "text"), "c": "int", "p": "int"}
    for nulls in ["equal", "distinct", "wildcard"]:
        result = audit_on(
            rows, kinds, qi=names, sensitive="c", entity="p", nulls=nulls, require=["k=2"], show_values=True
        )
        assert result.checks[0].level == (2 if nulls == "wildcard" else 1)
        assert all(list(item.key or {}) == names for item in result.failing)
    swapped = audit_on(rows, kinds, qi=["c"], sensitive=names, require=["l=2"])
    assert [(check.sensitive, check.level) for check in swapped.checks] == [(name, 1) for name in names]


def test_kinds_without_a_collation_are_ranked_too(engine: Engine) -> None:
    """A UUID, a list or a number from an expression has no collation; ranking must not ask for one."""
    rows = "(VALUES ('5'), ('10'), ('10')) AS t(x)"
    made = {
        "uuid": "CAST('00000000-0000-0000-0000-0000000000' || RIGHT('0' || x, 2) AS UUID)",
        "list": "ARRAY[CAST(x AS INTEGER)]" if engine.dialect == "postgres" else "[CAST(x AS INTEGER)]",
    }
    for expression in made.values():
        query = "SELECT 1 AS a, " + expression + " AS s FROM " + rows
        result = sqlaudit.audit(query=query, db=engine, qi=["a"], sensitive="s", require=["alpha=2/3"])
        assert (result.checks[0].status, result.sensitive[0].distinct) == ("pass", 2)
    query = "SELECT 1 AS a, CAST(x AS INTEGER) AS x FROM " + rows
    result = sqlaudit.audit(query=query, db=engine, qi=["a"], sensitive="x + 1", require=["alpha=2/3"])
    assert (result.checks[0].status, result.sensitive[0].distinct) == ("pass", 2)


def test_no_entity_may_be_missing(audit_on: AuditOn) -> None:
    rows = [{"a": 1, "s": "x", "p": 1}, {"a": 1, "s": "x", "p": None}]
    for sensitive in ["s", ()]:
        with pytest.raises(UsageError, match="1 row has no value in the entity column"):
            audit_on(rows, {"a": "int", "s": "text", "p": "int"}, qi=["a"], sensitive=sensitive, entity="p")


# --- limits met exactly ---


@pytest.mark.usefixtures("form")
def test_entropy_at_a_limit_is_decided_in_whole_numbers(audit_on: AuditOn, engine: Engine) -> None:
    """Even counts reach l exactly whatever floats say; large counts a hair apart do not."""
    for l in (2, 3, 6, 7, 11) if engine.dialect == "duckdb" else (3, 11):
        rows = [{"a": a, "s": s} for a, times in [(1, 1), (2, 2), (3, 7)] for s in range(l) for _ in range(times)]
        required = [f"entropy_l={l}", f"entropy_l={l}.000000001"]
        at, above = audit_on(rows, {"a": "int", "s": "int"}, qi=["a"], sensitive="s", require=required).checks
        assert (at.status, at.failing_classes) == (Status.PASS, 0)
        assert (above.status, above.failing_classes) == (Status.FAIL, 3)


@pytest.mark.usefixtures("form")
def test_classes_within_float_error_of_a_limit_are_listed_when_they_fail(engine: Engine) -> None:
    """Class 1 has 2/2/2 and exp(H) = 3; class 2 has 40000/40000/39999, closer to 3 than floats are trusted."""
    query = (
        "SELECT 1 AS a, CAST(g AS BIGINT) % 3 AS s FROM generate_series(0, 5) AS x(g) "
        "UNION ALL SELECT 2 AS a, CAST(g AS BIGINT) % 3 AS s FROM generate_series(0, 119998) AS y(g)"
    )
    result = sqlaudit.audit(query=query, db=engine, qi=["a"], sensitive="s", require=["entropy_l=3"], show_values=True)
    [check] = result.checks
    assert float(check.level or 0) == pytest.approx(3, abs=1e-9)
    assert (check.status, check.failing_classes, check.failing_rows) == (Status.FAIL, 1, 119_999)
    assert [(item.size, item.key) for item in result.failing] == [(119_999, {"a": 2})]


@pytest.mark.usefixtures("form")
def test_distances_and_shares_at_their_limits(audit_on: AuditOn) -> None:
    """Thirds and sevenths have no float; the verdict is exact all the same."""
    counted = enumerate([(1, 2, 4), (2, 4, 1), (4, 1, 2)])
    rows = [{"a": a, "s": s} for a, counts in counted for s, c in enumerate(counts) for _ in range(c)]
    kinds = {"a": "int", "s": "int"}
    table = oracle.table_of(rows, ["a"], "s")
    for name in ("t_closeness", "t_closeness_ordered", "alpha_k_anonymity", "basic_beta_likeness"):
        level = oracle.MODELS[name](table, Fraction(1)).level
        assert isinstance(level, Fraction)
        tighter = level - Fraction(1, 7 * 10**6)
        result = audit_on(rows, kinds, qi=["a"], sensitive="s", require=[f"{name}={level}", f"{name}={tighter}"])
        assert [check.status for check in result.checks] == [Status.PASS, Status.FAIL], name


def test_even_counts_over_very_many_values_need_no_second_look(engine: Engine) -> None:
    """2,000 classes of two rows with two values each, no two alike: all of them meet l = 2 exactly."""
    query = "SELECT CAST(g AS BIGINT) % 2000 AS a, CAST(g AS BIGINT) AS s FROM generate_series(0, 3999) AS x(g)"
    result = sqlaudit.audit(query=query, db=engine, qi=["a"], sensitive="s", require=["entropy_l=2", "entropy_l=2.1"])
    assert [(check.level, check.failing_classes) for check in result.checks] == [(2.0, 0), (2.0, 2000)]
    assert "classes at a limit" not in [timing.name for timing in result.statements]
