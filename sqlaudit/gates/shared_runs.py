"""Tests that one result answers together: of cells, column sets, losses, and of releases over time."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Generic, TypeVar

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Number, Status, Warned
from sqlaudit.base.spec import Requirement
from sqlaudit.column_sets.request import ColumnRequest, FindSets
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.column_limits import columns_to_search
from sqlaudit.gates.judging import attempt, errored, judged
from sqlaudit.gates.release_limits import M_INVARIANCE
from sqlaudit.gates.result import (
    CellLimit,
    ColumnLimit,
    ColumnSetFigures,
    GateTest,
    Limit,
    LossLimit,
    Outcome,
    SafeHarborLimit,
    SeriesLimit,
    SyntheticLimit,
    TableEntry,
    TestSpec,
)
from sqlaudit.models.base import COLUMN_SETS, Check
from sqlaudit.models.judge import compares
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.models.registry import CELL_RULES, parse_requirement
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import CompareResult, Loss
from sqlaudit.release.compare.run import compare_tables
from sqlaudit.release.series.result import ReleasesResult
from sqlaudit.release.synthetic.result import SyntheticResult
from sqlaudit.reports.document import percent, plural
from sqlaudit.tabular.result import AggregatesResult, RuleFound

# Tests that one result answers together: it is made for the first of them and kept for the others.

L = TypeVar("L", bound=Limit)
Result = TypeVar("Result")


@dataclass
class SharedRuns(ABC, Generic[L, Result]):
    """Runs the tests of one table that are alike but for their limits.

    Args:
        engine: an open engine. today: the day that exceptions are compared with.
    """

    engine: Engine
    today: datetime.date
    _found: dict[L, Result] = field(default_factory=dict, init=False)

    def run(self, entry: TableEntry, spec: TestSpec, limit: L) -> list[GateTest]:
        """Return what comes of a test: one result, or one for every sensitive attribute; an error is one, too.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        tests = attempt(lambda: list(self._tests(entry, spec, limit, self._result(entry, limit))))
        return [errored(entry, spec, tests)] if isinstance(tests, SqlauditError) else tests

    def _result(self, entry: TableEntry, limit: L) -> Result:
        """Return the result for a limit; limits with the same question share it."""
        question = self._question(limit)
        if question not in self._found:
            limits = (test.limit for test in entry.tests)
            same_question = [
                limit_of_entry
                for limit_of_entry in limits
                if isinstance(limit_of_entry, type(limit)) and self._question(limit_of_entry) == question
            ]
            self._found[question] = self._find(entry, same_question)
        return self._found[question]

    @property
    def remarks(self) -> tuple[Warned, ...]:
        """Remarks about how the tables of these tests were read."""
        return tuple(remark for result in self._found.values() for remark in getattr(result, "remarks", ()))

    def _question(self, limit: L) -> L:
        """Return what two limits must have in common to be answered by one result."""
        return limit

    @abstractmethod
    def _find(self, entry: TableEntry, limits: Sequence[L]) -> Result:
        """The result that answers limits with the same question."""

    @abstractmethod
    def _tests(self, entry: TableEntry, spec: TestSpec, limit: L, result: Result) -> Iterable[GateTest]:
        """The tests that a result decides."""


# Tests of the cells of published tables: one reading for all rules over the same cells.

_OUTSIDERS = "Hidden cells are checked against outsiders only, not against contributors, who know their own part."


class CellTests(SharedRuns[CellLimit, AggregatesResult]):
    """Runs the tests on the cells of one table, one for each rule."""

    def _question(self, limit: CellLimit) -> CellLimit:
        return replace(limit, request=replace(limit.request, requirements=()))

    def _find(self, entry: TableEntry, limits: Sequence[CellLimit]) -> AggregatesResult:
        from sqlaudit.tabular.run import find_unsafe_cells

        assert entry.target is not None
        rules = tuple(requirement for other in limits for requirement in other.request.requirements)
        request = replace(
            limits[0].request, target=entry.target, requirements=rules, before=limits[0].before, linked=limits[0].linked
        )
        return find_unsafe_cells(self.engine, request)

    def _tests(
        self, entry: TableEntry, spec: TestSpec, limit: CellLimit, result: AggregatesResult
    ) -> Iterator[GateTest]:
        """Yield the test of a rule for cells."""
        rule_text = limit.request.requirements[0].text
        over = [*result.rules, *(finding for two in result.differences for finding in two.unsafe)]
        findings = [finding for finding in over if finding.text == rule_text]
        test = judged(entry, spec, _cells_check(result, spec, findings), result.cells, None, self.today)
        rule = CELL_RULES[limit.request.requirements[0].model]
        if result.outsiders_only and test.outcome is Outcome.PASS and rule.of_hidden:
            test = replace(test, message=f"{test.message} {_OUTSIDERS}".strip())
        cells = "; ".join(_keys(findings)) if limit.request.show_values else ""
        yield replace(test, message=f"{test.message} Cells: {cells}.".strip()) if cells else test


def _keys(findings: Sequence[RuleFound]) -> Iterator[str]:
    """The unsafe cells of a rule by their dimensions, where the policy allows to tell them."""
    for key in (key for finding in findings for key in finding.keys):
        yield ", ".join(f"{name}={'–' if value is None else value}" for name, value in key.items())


def _cells_check(result: AggregatesResult, spec: TestSpec, findings: Sequence[RuleFound]) -> Check:
    """A rule over cells and over what changed, as a check: how many cells are unsafe."""
    unsafe = sum(finding.cells for finding in findings)
    undecided = any(finding.undecided or finding.status is Status.UNDETERMINED for finding in findings)
    undecided |= bool(result.mistakes) or not result.cells
    status = Status.FAIL if unsafe else Status.UNDETERMINED if undecided else Status.PASS
    rule_notes = (
        f"the rule {finding.note}" if finding.note.startswith(finding.text) else finding.note
        for finding in findings
        if finding.note
    )
    notes = [*(problem.message for problem in result.mistakes), *rule_notes]
    return Check(
        model=findings[0].rule,
        sensitive=None,
        parameters=findings[0].parameters,
        level=unsafe,
        levels={"unsafe_cells": findings[0].cells, "unsafe_changes": unsafe - findings[0].cells},
        operator="<=",
        required=0,
        status=status,
        failing_rows=unsafe,
        text=spec.requirement,
        note=notes[0] if notes and status is Status.UNDETERMINED else "",
        title=f"Unsafe cells by the {CELL_RULES[findings[0].rule].title}",
        preset=findings[0].preset,
    )


# Tests of column sets: how many columns single persons out, and which.

MOST_SETS = 10_000
_SETS_SAID = 3


@dataclass
class ColumnSetTests(SharedRuns[ColumnLimit, ColumnSets]):
    """Runs the tests on column sets of one table, one for each limit.

    Args:
        rows: the rows of a table, with what is known of its persons.
    """

    rows: Callable[[TableEntry], Relation]

    def _find(self, entry: TableEntry, limits: Sequence[ColumnLimit]) -> ColumnSets:
        """Search the column sets that put more than the allowed share of rows into small classes."""
        assert entry.target is not None
        roles, limit = entry.roles, limits[0]
        among = columns_to_search(limit, roles)
        request = ColumnRequest(
            entry.target,
            among,
            () if among else (*roles.identifiers, *limit.exclude),
            roles.entity,
            roles.values,
            k=limit.k,
            tolerance=limit.share,
            max_size=limit.max_size,
            find=FindSets.ALL,
            limit=MOST_SETS,
            nulls=roles.nulls,
            effects=False,
        )
        return find_columns(self.engine, request, relation=self.rows(entry))

    def _tests(self, entry: TableEntry, spec: TestSpec, limit: ColumnLimit, result: ColumnSets) -> Iterator[GateTest]:
        test = judged(entry, spec, _check_of(spec, limit, result), result.total, None, self.today)
        sets = tuple(ColumnSetFigures(column_set.columns, column_set.rows_at_risk) for column_set in result.sets)
        message = " ".join(part for part in (_sets_said(result), test.message) if part)
        yield replace(test, sets=sets, unit=result.unit, message=message)


def _check_of(spec: TestSpec, limit: ColumnLimit, result: ColumnSets) -> Check:
    """A limit on column sets as a check: how many minimal sets are beyond it, and the rows of the worst of them."""
    worst = max((column_set.rows_at_risk for column_set in result.sets), default=0)
    status = Status.FAIL if result.sets_found else Status.PASS if result.complete else Status.UNDETERMINED
    return Check(
        model=COLUMN_SETS,
        sensitive=None,
        title="column sets beyond the limit",
        parameters={"max_size": limit.max_size, "k": limit.k, "share": limit.share},
        level=result.sets_found,
        levels={"sets": result.sets_found},
        operator="<=",
        required=0,
        status=status if result.total else Status.UNDETERMINED,
        failing_rows=worst,
        failing_share=worst / result.total if result.total else None,
        text=spec.requirement,
    )


def _sets_said(result: ColumnSets) -> str:
    """The worst sets in words; column names and counts only."""
    if not result.sets:
        return ""
    ranked = sorted(result.sets, key=lambda column_set: (-column_set.rows_at_risk, column_set.columns))
    sets = "; ".join(
        f"{', '.join(column_set.columns) or 'no column at all'}: {column_set.rows_at_risk:,} of {result.total:,} "
        f"{result.unit} ({percent(column_set.share_at_risk)}) in classes smaller than {result.k}"
        for column_set in ranked[:_SETS_SAID]
    )
    others = f"; and {len(result.sets) - _SETS_SAID} more" if len(result.sets) > _SETS_SAID else ""
    return f"{sets}{others}."


# Tests of what a release lost: one comparison for all losses of a table against the same original.

_AUDIT = parse_requirement("k=1")
"""A comparison audits the release, too; the policy's own tests do that, so here one cheap model will do."""


class LossTests(SharedRuns[LossLimit, CompareResult]):
    """Runs the tests on losses of one table, one for every sensitive attribute that the measure is about, or one."""

    def _question(self, limit: LossLimit) -> LossLimit:
        return replace(limit, measure="", limit=Fraction(0), at_least=False, figure="value", column=None)

    def _find(self, entry: TableEntry, limits: Sequence[LossLimit]) -> CompareResult:
        """Compare the table with its original."""
        assert entry.target is not None
        first = limits[0]
        request = CompareRequest(
            original=first.original,
            release=entry.target,
            qi=entry.roles.quasi_identifiers,
            sensitive=entry.roles.sensitive,
            values=entry.roles.values,
            key=first.key,
            by_position=first.by_position,
            hierarchies=first.hierarchies or entry.inputs.get("hierarchies"),
            measures=tuple({limit.measure: None for limit in limits}),
            distance=first.distance,
            requirements=(_AUDIT,),
            inputs=entry.inputs,
        )
        return compare_tables(self.engine, request, with_spreads=False)

    def _tests(self, entry: TableEntry, spec: TestSpec, limit: LossLimit, result: CompareResult) -> Iterator[GateTest]:
        for loss in _of(result, spec, limit):
            yield judged(entry, spec, _loss_check(loss, spec, limit), result.released, None, self.today)


def _of(result: CompareResult, spec: TestSpec, limit: LossLimit) -> list[Loss]:
    """The losses that a limit is about.

    Raises:
        UsageError: the comparison has no such figure.
    """
    figures = (loss for loss in result.losses if (loss.measure, loss.column) == (limit.measure, limit.column))
    losses = [loss for loss in figures if spec.is_about(loss.sensitive)]
    if not losses:  # a test that says nothing must not pass by being absent
        raise UsageError(f"The comparison has no loss {limit.measure!r} for this column and sensitive attribute.")
    return losses


def _loss_check(loss: Loss, spec: TestSpec, limit: LossLimit) -> Check:
    """Return the check of a loss against its limit."""
    figures: dict[str, Number | None] = {"value": loss.value, "mean": loss.mean, "share": loss.share}
    level = figures[limit.figure]
    operator = ">=" if limit.at_least else "<="
    title = OF_RELEASES[loss.measure].title + (f" of {loss.column}" if loss.column else "")
    words = {"value": "", "mean": ", on average", "share": ", as a share of the loss of complete suppression,"}
    status = Status.UNDETERMINED
    if level is not None:
        status = Status.PASS if compares(level, operator, limit.limit) else Status.FAIL
    return Check(
        model="loss",
        sensitive=loss.sensitive,
        parameters={},
        level=level,
        levels={limit.figure: level},
        operator=operator,
        required=limit.limit,
        status=status,
        text=spec.requirement,
        note=loss.why if level is None else "",
        title=f"{title[0].upper()}{title[1:]}{words[limit.figure]}",
    )


# Tests of a table beside its older releases: one look at all of them for all limits that only differ in m.


class SeriesTests(SharedRuns[SeriesLimit, ReleasesResult]):
    """Runs the tests on one table beside its older releases, one for every sensitive attribute."""

    def _question(self, limit: SeriesLimit) -> SeriesLimit:
        return replace(limit, m=1)

    def _find(self, entry: TableEntry, limits: Sequence[SeriesLimit]) -> ReleasesResult:
        """Compare the releases of the table."""
        from sqlaudit.release.series.request import SeriesRequest
        from sqlaudit.release.series.run import find_in_releases

        assert entry.target is not None
        request = SeriesRequest(
            targets=(*limits[0].before, entry.target),
            entity=limits[0].entity or entry.roles.entity or "",
            qi=entry.roles.quasi_identifiers,
            sensitive=entry.roles.sensitive,
            values=entry.roles.values,
            counterfeits=limits[0].counterfeits,
        )
        return find_in_releases(self.engine, request)

    def _tests(
        self, entry: TableEntry, spec: TestSpec, limit: SeriesLimit, result: ReleasesResult
    ) -> Iterator[GateTest]:
        """Yield the test of m-invariance of every sensitive attribute."""
        from sqlaudit.release.series.run import check_of_series

        requirement = Requirement(M_INVARIANCE, {"m": limit.m}, spec.requirement, spec.severity)
        for name in spec.sensitive or result.sensitive:
            figures = result.attribute(name)
            check, newest = check_of_series(requirement, figures), figures.releases[-1]
            test = judged(entry, spec, check, newest.rows, newest.classes, self.today)
            if figures.singled_out:
                sentence = f"The releases in combination single out {plural(figures.singled_out, 'person', 'people')}."
                test = replace(test, message=f"{test.message} {sentence}".strip())
            yield test


# Tests of a synthetic table beside its original: one comparison for all requirements.


class SyntheticTests(SharedRuns[SyntheticLimit, SyntheticResult]):
    """Runs the tests on one synthetic table, one for every sensitive attribute that a requirement is about, or one."""

    def _question(self, limit: SyntheticLimit) -> SyntheticLimit:
        return replace(limit, requirement=None)

    def _find(self, entry: TableEntry, limits: Sequence[SyntheticLimit]) -> SyntheticResult:
        """Compare the synthetic table with its original, and with the holdout if there is one."""
        from sqlaudit.release.synthetic.run import find_disclosure

        assert entry.target is not None
        first, roles = limits[0], entry.roles
        request = CompareRequest(
            original=first.original,
            release=entry.target,
            synthetic=True,
            holdout=first.holdout,
            qi=roles.quasi_identifiers,
            sensitive=roles.sensitive,
            values=roles.values,
            nulls=roles.nulls,
            known=first.known,
            hierarchies=first.hierarchies or None,
            requirements=tuple(
                {limit.requirement.text: limit.requirement for limit in limits if limit.requirement}.values()
            ),
        )
        return find_disclosure(self.engine, request, with_shapes=False)

    def _tests(
        self, entry: TableEntry, spec: TestSpec, limit: SyntheticLimit, result: SyntheticResult
    ) -> Iterator[GateTest]:
        assert limit.requirement is not None
        for check in result.checks:
            if check.text == limit.requirement.text and spec.is_about(check.sensitive):
                requirement_check = replace(check, text=spec.requirement, severity=spec.severity)
                test = judged(entry, spec, requirement_check, result.synthetic.rows.synthetic, None, self.today)
                warnings = " ".join(warning.message for warning in result.warnings)
                yield replace(test, message=f"{test.message} {warnings}".strip()) if warnings else test


# Tests of HIPAA's Safe Harbor: which identifiers the columns of a table are.


@dataclass
class SafeHarborTests(SharedRuns[SafeHarborLimit, Check]):
    """Runs the tests of Safe Harbor on one table.

    Args:
        rows: the rows of a table, with what is known of its persons.
    """

    rows: Callable[[TableEntry], Relation]

    def _find(self, entry: TableEntry, limits: Sequence[SafeHarborLimit]) -> Check:
        from sqlaudit.audits.safe_harbor import safe_harbor_check

        return safe_harbor_check(self.engine, self.rows(entry), limits[0].request, today=self.today)

    def _tests(self, entry: TableEntry, spec: TestSpec, limit: SafeHarborLimit, result: Check) -> Iterator[GateTest]:
        yield judged(entry, spec, replace(result, text=spec.requirement), None, None, self.today)
