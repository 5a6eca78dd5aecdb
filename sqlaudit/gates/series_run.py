"""Tests of a table beside its older releases: one look at all of them for all limits that only differ in m."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlaudit.base.spec import Requirement
from sqlaudit.gates.judging import judged
from sqlaudit.gates.result import GateTest
from sqlaudit.gates.series import M_INVARIANCE
from sqlaudit.gates.shared_runs import SharedRuns, read_alike
from sqlaudit.gates.spec import SeriesLimit, TableEntry, TestSpec
from sqlaudit.release.series.result import AttributeFigures, ReleasesResult


class SeriesTests(SharedRuns[SeriesLimit, ReleasesResult]):
    """Runs the tests on one table beside its older releases, one for every sensitive attribute."""

    def _limit(self, spec: TestSpec) -> SeriesLimit | None:
        return spec.series

    def _question(self, limit: SeriesLimit) -> SeriesLimit:
        return replace(limit, m=1)

    def _find(self, entry: TableEntry, alike: Sequence[SeriesLimit]) -> ReleasesResult:
        from sqlaudit.release.series.request import SeriesRequest
        from sqlaudit.release.series.run import find_in_releases

        assert entry.target is not None
        request = SeriesRequest(
            entity=alike[0].entity or entry.roles.entity or "",
            qi=entry.roles.quasi_identifiers,
            sensitive=entry.roles.sensitive,
            counterfeits=alike[0].counterfeits,
        )
        return find_in_releases(self.engine, [*read_alike(entry, alike[0].before), entry.target], request)

    def _tests(
        self, entry: TableEntry, spec: TestSpec, limit: SeriesLimit, result: ReleasesResult
    ) -> Iterator[GateTest]:
        for name in spec.sensitive or result.sensitive:
            yield self._test(entry, spec, limit, result.attribute(name))

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
