"""Which classes are listed as falling short, against brute force: every model, every form, every engine.

The list says of each class its size, its rows, its key and what it falls short of; without keys, classes that look
alike are one entry. What is exported is the whole list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.audits.request import AuditRequest
from sqlaudit.audits.result import AuditResult
from sqlaudit.audits.run import audit_table
from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles, make_target
from sqlaudit.classes import histogram
from sqlaudit.classes.failing import AllFailing, FailingClass
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import requirement_from
from tests import oracle
from tests.audit_values import values_query
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.models import oracle_rare
from tests.models.disclosure import oracle as oracle_disclosure
from tests.models.strategies import RareCase, rare_cases
from tests.strategies import Case, cases, on_spark, run

Line = tuple[Any, ...]


def c_k_safety(table: oracle.Table, c: Fraction, k: int) -> oracle.Expected:
    """A class falls short when k pieces of knowledge disclose somebody in it with probability c."""
    classes = [list(g.counts.values()) for g in table.groups]
    levels = [oracle_disclosure.of_class(classes, number, k) for number in range(len(classes))]
    failing = tuple(g for g, level in zip(table.groups, levels, strict=True) if level >= c)
    return oracle.Expected(max(levels, default=None), not failing, len(failing), sum(g.rows for g in failing), failing)


class Listing:
    """What an audit lists and exports, with its keys and without."""

    def __init__(
        self, engine: Engine, rows: Sequence[Any], columns: Any, roles: Roles, require: Any, inputs: Any
    ) -> None:
        target = make_target(None, query=values_query(rows, columns))
        self.request = AuditRequest(target, roles, tuple(require), inputs=inputs, failing_classes=None, worst_classes=0)
        self.engine = engine

    def audit(self, *, show_values: bool) -> tuple[AuditResult, list[FailingClass]]:
        exported: list[FailingClass] = []

        def export(failing: AllFailing) -> None:
            exported.extend(failing)
            assert all(set(item.key or ()) <= set(failing.keys) for item in exported)
            assert all(tuple(item.figures) == failing.figures for item in exported)

        request = replace(self.request, show_values=show_values)
        return audit_table(self.engine, request, export=export), exported

    def expected(self, failing: dict[str, Iterable[oracle.Group]]) -> Counter[Line]:
        """The lines of these groups, by requirement."""
        groups = {id(group): group for found in failing.values() for group in found}
        broken = {
            place: frozenset(text for text, found in failing.items() if any(g is group for g in found))
            for place, group in groups.items()
        }
        return Counter((g.key, g.size, g.rows, broken[place]) for place, g in groups.items())

    def check(self, failing: dict[str, Iterable[oracle.Group]]) -> AuditResult:
        """Whether the classes of these groups, by requirement, are what is listed; the result with keys."""
        self.check_hidden(failing)
        return self.check_keyed(failing)

    def check_keyed(self, failing: dict[str, Iterable[oracle.Group]]) -> AuditResult:
        expected = self.expected(failing)
        keyed, exported = self.audit(show_values=True)
        assert lines(keyed.failing) == lines(exported) == expected
        assert keyed.failing_total == expected.total()
        return keyed

    def check_hidden(self, failing: dict[str, Iterable[oracle.Group]]) -> AuditResult:
        expected = self.expected(failing)
        hidden, exported = self.audit(show_values=False)
        blank: Counter[Line] = Counter()
        for (_, *rest), times in expected.items():
            blank[(), *rest] += times
        assert lines(hidden.failing) == lines(exported) == blank
        assert all(item.key is None for item in (*hidden.failing, *exported))
        looks = [(item.size, item.rows, item.fails, *map(rounded, item.figures.values())) for item in hidden.failing]
        assert len(set(looks)) == len(looks)
        assert hidden.failing_total == expected.total()
        return hidden


def rounded(value: Any) -> Any:
    return float(f"{value:.9g}") if isinstance(value, float) else value


def lines(failing: Iterable[FailingClass]) -> Counter[Line]:
    """How many classes there are of each (key, size, rows, what they fall short of)."""
    found: Counter[Line] = Counter()
    for item in failing:
        key = tuple(map(oracle.comparable, (item.key or {}).values()))
        found[key, item.size, item.rows, frozenset(item.fails)] += item.classes
    return found


def known_rows(entity: str | None) -> KnownRows:
    """As the oracle has persons: each row of theirs by itself."""
    return KnownRows.ONE if entity else KnownRows.WORSE


def of_case(engine: Engine, case: Case) -> Listing:
    named = [replace(requirement, text=requirement.model) for requirement in case.require]
    sensitive, known = (case.sensitive,) if case.sensitive else (), known_rows(case.entity)
    roles = Roles(tuple(case.qi), sensitive, (), case.entity, False, NullPolicy(case.nulls), known)
    return Listing(engine, case.rows, case.columns, roles, named, {})


def check_case(engine: Engine, case: Case) -> None:
    table = case.table()
    failing = {}
    for requirement in case.require:
        expected = oracle.MODELS[requirement.model](table, **requirement.parameters)
        if expected.holds is False and table.groups:
            failing[requirement.model] = expected.failing
    of_case(engine, case).check(failing)
    if on_spark():  # where each audit takes seconds, and of one requirement asks for less of the same
        return
    for requirement in case.require[len(case.rows) % max(1, len(case.require)) :][:1]:  # and one of them alone
        one = replace(case, require=[requirement])
        of_case(engine, one).check({name: found for name, found in failing.items() if name == requirement.model})


@given(case=cases(rows=14))
@run(5, some=4)
def test_the_list_is_what_brute_force_finds(engine: Engine, case: Case) -> None:
    check_case(engine, case)


@given(case=cases(rows=14))
@run(5, some=4)
def test_the_list_in_the_cells_form(engine: Engine, case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "PACKED_VALUES", 0)
        check_case(engine, case)


@given(case=cases("wildcard", rows=10))
@run(5, some=4)
def test_the_list_where_a_missing_value_matches_any(engine: Engine, case: Case) -> None:
    check_case(engine, case)


# --- the models that no fact of a class decides, and the others that need inputs ---


def rare_listing(engine: Engine, case: RareCase, requirements: Iterable[Requirement], nulls: str = "equal") -> Listing:
    roles = Roles(tuple(case.qi), ("s",), (), case.entity, False, NullPolicy(nulls), known_rows(case.entity))
    return Listing(engine, case.rows, case.columns, roles, requirements, case.inputs())


def rare_requirements(case: RareCase, safety: tuple[Fraction, int]) -> dict[str, Requirement]:
    limits = dict(case.limits)
    if not case.entity:
        limits["c_k_safety"] = {"c": safety[0], "k": safety[1]}
    return {name: replace(requirement_from(name, limit), text=name) for name, limit in limits.items()}


def rare_expected(case: RareCase, name: str, parameters: Any, nulls: str = "equal") -> oracle.Expected:
    if name == "c_k_safety":
        return c_k_safety(case.table(nulls), **parameters)
    return oracle_rare.MODELS[name](case.table(nulls), case.given, **parameters)


def short_of(
    case: RareCase, required: dict[str, Requirement], nulls: str = "equal"
) -> dict[str, Sequence[oracle.Group]]:
    if not case.rows:
        return {}
    table: dict[Any, oracle.Group] = {}
    found = {}
    for name, requirement in required.items():
        more = {"diluted": True} if name == "d_density_control" and "mu_dilution" in required else {}
        expected = rare_expected(case, name, {**requirement.parameters, **more}, nulls)
        if expected.holds is False:  # the same class is the same group for every model
            found[name] = [table.setdefault((g.key, g.size), g) for g in expected.failing]
    return found


def has_rows(case: Case | RareCase) -> bool:
    return bool(case.rows)


SAFETY = st.tuples(st.sampled_from([Fraction(n, 12) for n in range(13)]), st.integers(0, 3))


@given(case=rare_cases(rows=12), safety=SAFETY)
@run(4, some=3)
def test_the_rarer_models_list_their_classes_together(engine: Engine, case: RareCase, safety: tuple[Any, int]) -> None:
    required = rare_requirements(case, safety)
    rare_listing(engine, case, required.values()).check(short_of(case, required))


@given(case=rare_cases(rows=12).filter(has_rows), safety=SAFETY)
@run(3, some=2)
def test_the_rarer_models_list_their_classes_in_the_cells_form(
    engine: Engine, case: RareCase, safety: tuple[Any, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "PACKED_VALUES", 0)
        required = rare_requirements(case, safety)
        rare_listing(engine, case, required.values()).check(short_of(case, required))


@pytest.mark.few_on_postgres(0)
@given(case=rare_cases(rows=10).filter(has_rows), safety=SAFETY)
@run(3, some=2)
def test_every_rarer_model_lists_its_classes_alone(engine: Engine, case: RareCase, safety: tuple[Any, int]) -> None:
    """On PostgreSQL each is asked alone by the cases of `tests/models`."""
    for place, (name, requirement) in enumerate(rare_requirements(case, safety).items()):
        found = short_of(case, {name: requirement})
        listing = rare_listing(engine, case, [requirement])
        # with keys or without, in turn: both are compared of all models together
        result = listing.check_keyed(found) if (place + len(case.rows)) % 2 else listing.check_hidden(found)
        [check] = result.checks
        if case.rows and check.failing_classes is not None:
            assert result.failing_total == (check.failing_classes if check.status is Status.FAIL else 0)


@given(case=rare_cases(rows=10), safety=SAFETY)
@run(5, some=3)
def test_estimates_and_signatures_where_missing_values_are_apart(
    engine: Engine, case: RareCase, safety: tuple[Any, int]
) -> None:
    offered = ("psi_security_estimate", "psi_positive_disclosure", "c_k_safety", "l_categorical_diversity")
    required = {name: one for name, one in rare_requirements(case, safety).items() if name in offered}
    expected = short_of(case, {})
    table = case.table("distinct")
    groups = {id(g): g for g in table.groups}
    for name, requirement in required.items():
        again = (
            c_k_safety(table, **requirement.parameters)
            if name == "c_k_safety"
            else oracle_rare.MODELS[name](table, case.given, **requirement.parameters)
        )
        if again.holds is False:
            expected[name] = [groups[id(g)] for g in again.failing]
    rare_listing(engine, case, required.values(), "distinct").check(expected)
