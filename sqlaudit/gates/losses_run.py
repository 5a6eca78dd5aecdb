"""Tests of what a release lost: one comparison for all losses of a table against the same original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Number, Status
from sqlaudit.gates.judging import judged
from sqlaudit.gates.result import GateTest
from sqlaudit.gates.shared_runs import SharedRuns, read_alike
from sqlaudit.gates.spec import LossLimit, TableEntry, TestSpec
from sqlaudit.models.check import Check
from sqlaudit.models.judge import compares
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.models.requirements import parse_requirement
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import CompareResult, Loss
from sqlaudit.release.compare.run import compare_tables

_AUDIT = parse_requirement("k=1")
"""A comparison audits the release, too; the policy's own tests do that, so here one cheap model will do."""


class LossTests(SharedRuns[LossLimit, CompareResult]):
    """Runs the tests on losses of one table, one for every sensitive attribute that the measure is about, or one."""

    def _limit(self, spec: TestSpec) -> LossLimit | None:
        return spec.loss

    def _question(self, limit: LossLimit) -> LossLimit:
        return replace(limit, measure="", limit=Fraction(0), at_least=False, figure="value", column=None)

    def _find(self, entry: TableEntry, alike: Sequence[LossLimit]) -> CompareResult:
        return compare_tables(self.engine, _request(entry, alike))

    def _tests(self, entry: TableEntry, spec: TestSpec, limit: LossLimit, result: CompareResult) -> Iterator[GateTest]:
        for loss in _of(result, spec, limit):
            yield judged(entry, spec, _check(loss, spec, limit), result.released, None, self.today)


def _request(entry: TableEntry, limits: Sequence[LossLimit]) -> CompareRequest:
    assert entry.target is not None
    first = limits[0]
    own = entry.inputs.get("hierarchies")
    return CompareRequest(
        original=read_alike(entry, [first.original])[0],
        release=entry.target,
        qi=entry.roles.quasi_identifiers,
        sensitive=entry.roles.sensitive,
        key=first.key,
        by_position=first.by_position,
        hierarchies=first.hierarchies or own,
        measures=tuple({limit.measure: None for limit in limits}),
        distance=first.distance,
        workload=0,
        requirements=(_AUDIT,),
        inputs=entry.inputs,
    )


def _of(result: CompareResult, spec: TestSpec, limit: LossLimit) -> list[Loss]:
    """The losses that a limit is about.

    Raises:
        UsageError: the comparison has no such figure.
    """
    found = [
        loss
        for loss in result.losses
        if loss.measure == limit.measure
        and loss.column == limit.column
        and (not spec.sensitive or loss.sensitive is None or loss.sensitive in spec.sensitive)
    ]
    if not found:  # a test that says nothing must not pass by being absent
        raise UsageError(f"The comparison tells no loss {limit.measure!r} of this column and sensitive attribute.")
    return found


def _check(loss: Loss, spec: TestSpec, limit: LossLimit) -> Check:
    figures: dict[str, Number | None] = {"value": loss.value, "mean": loss.mean, "share": loss.share}
    level = figures[limit.figure]
    operator = ">=" if limit.at_least else "<="
    title = OF_RELEASES[loss.measure].title + (f" of {loss.column}" if loss.column else "")
    words = {"value": "", "mean": ", on average", "share": ", as a share of what complete suppression loses,"}
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
