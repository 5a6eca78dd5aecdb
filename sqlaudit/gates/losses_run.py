"""Tests of what a release lost: one comparison for all losses of a table against the same original."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlaudit.base.errors import Interrupted, SqlauditError, UsageError
from sqlaudit.base.result import Number, Status
from sqlaudit.base.spec import ReadOptions
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.judging import errored, judged
from sqlaudit.gates.result import GateTest
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


@dataclass
class LossTests:
    """Runs the tests on losses of one table.

    Args:
        engine: an open engine. today: the day that exceptions are compared with.
    """

    engine: Engine
    today: datetime.date
    _compared: dict[LossLimit, CompareResult] = field(default_factory=dict)

    def run(self, entry: TableEntry, spec: TestSpec, limit: LossLimit) -> list[GateTest]:
        """One test for every sensitive attribute that the measure is about, or one.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        try:
            result = self._compare(entry, limit)
            losses = _of(result, spec, limit)
        except Interrupted:
            raise
        except SqlauditError as error:
            return [errored(entry, spec, error)]
        return [judged(entry, spec, _check(loss, spec, limit), result.released, None, self.today) for loss in losses]

    def _compare(self, entry: TableEntry, limit: LossLimit) -> CompareResult:
        """The comparison that answers a limit and all that only differ in measure, column or bound."""
        asked = _question(limit)
        if asked not in self._compared:
            alike = [test.loss for test in entry.tests if test.loss is not None and _question(test.loss) == asked]
            self._compared[asked] = compare_tables(self.engine, _request(entry, alike))
        return self._compared[asked]


def _question(limit: LossLimit) -> LossLimit:
    """What two limits must have in common to be answered by one comparison."""
    return replace(limit, measure="", limit=Fraction(0), at_least=False, figure="value", column=None)


def _request(entry: TableEntry, limits: list[LossLimit]) -> CompareRequest:
    assert entry.target is not None
    first = limits[0]
    own = entry.inputs.get("hierarchies")
    read = first.original.read if first.original.read != ReadOptions() else entry.target.read
    return CompareRequest(
        original=replace(first.original, read=read),
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
