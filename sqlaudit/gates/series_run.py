"""Tests of a table beside its older releases: one look at all of them for all limits that only differ in m."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace

from sqlaudit.base.errors import Interrupted, SqlauditError
from sqlaudit.base.spec import ReadOptions, Requirement
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.judging import errored, judged
from sqlaudit.gates.result import GateTest
from sqlaudit.gates.series import M_INVARIANCE
from sqlaudit.gates.spec import SeriesLimit, TableEntry, TestSpec
from sqlaudit.release.series.result import AttributeFigures, ReleasesResult


@dataclass
class SeriesTests:
    """Runs the tests on one table beside its older releases.

    Args:
        engine: an open engine. today: the day that exceptions are compared with.
    """

    engine: Engine
    today: datetime.date
    _found: dict[SeriesLimit, ReleasesResult] = field(default_factory=dict)

    def run(self, entry: TableEntry, spec: TestSpec, limit: SeriesLimit) -> list[GateTest]:
        """One test for every sensitive attribute.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        try:
            result = self._result(entry, limit)
        except Interrupted:
            raise
        except SqlauditError as error:
            return [errored(entry, spec, error)]
        wanted = spec.sensitive or result.sensitive
        return [self._test(entry, spec, limit, result.attribute(name)) for name in wanted]

    def _test(self, entry: TableEntry, spec: TestSpec, limit: SeriesLimit, found: AttributeFigures) -> GateTest:
        from sqlaudit.release.series.run import check_of_series

        requirement = Requirement(M_INVARIANCE, {"m": limit.m}, spec.requirement, spec.severity)
        own = found.releases[-1]
        test = judged(entry, spec, check_of_series(requirement, found), own.rows, own.classes, self.today)
        if not found.singled_out:
            return test
        verb = "person is" if found.singled_out == 1 else "persons are"
        said = f"{found.singled_out:,} {verb} singled out by the releases that they are in."
        return replace(test, message=f"{test.message} {said}".strip())

    def _result(self, entry: TableEntry, limit: SeriesLimit) -> ReleasesResult:
        """What the table and its older releases say together, whatever the limit."""
        from sqlaudit.release.series.request import SeriesRequest
        from sqlaudit.release.series.run import find_in_releases

        asked = replace(limit, m=1)
        if asked not in self._found:
            assert entry.target is not None
            read = entry.target.read
            before = [replace(one, read=read) if one.read == ReadOptions() else one for one in limit.before]
            request = SeriesRequest(
                entity=limit.entity or entry.roles.entity or "",
                qi=entry.roles.quasi_identifiers,
                sensitive=entry.roles.sensitive,
                counterfeits=limit.counterfeits,
            )
            self._found[asked] = find_in_releases(self.engine, [*before, entry.target], request)
        return self._found[asked]
