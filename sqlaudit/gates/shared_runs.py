"""Tests that one result answers together: it is made for the first of them and kept for the others."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from sqlaudit.base.errors import Interrupted, SqlauditError
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.judging import errored
from sqlaudit.gates.result import GateTest
from sqlaudit.gates.spec import TableEntry, TestSpec

Limit = TypeVar("Limit")
Result = TypeVar("Result")


@dataclass
class SharedRuns(ABC, Generic[Limit, Result]):
    """Runs the tests of one table that are alike but for their limits.

    Args:
        engine: an open engine. today: the day that exceptions are compared with.
    """

    engine: Engine
    today: datetime.date
    _found: dict[Limit, Result] = field(default_factory=dict, init=False)

    def run(self, entry: TableEntry, spec: TestSpec, limit: Limit) -> list[GateTest]:
        """What comes of a test: one result, or one for every sensitive attribute; an error is one, too.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        try:
            return list(self._tests(entry, spec, limit, self._result(entry, limit)))
        except Interrupted:
            raise
        except SqlauditError as error:
            return [errored(entry, spec, error)]

    def _result(self, entry: TableEntry, limit: Limit) -> Result:
        asked = self._question(limit)
        if asked not in self._found:
            limits = (self._limit(test) for test in entry.tests)
            alike = [one for one in limits if one is not None and self._question(one) == asked]
            self._found[asked] = self._find(entry, alike)
        return self._found[asked]

    @abstractmethod
    def _limit(self, spec: TestSpec) -> Limit | None:
        """The limit of a test, None where it is of another kind."""

    @abstractmethod
    def _question(self, limit: Limit) -> Limit:
        """What two limits must have in common to be answered by one result."""

    @abstractmethod
    def _find(self, entry: TableEntry, alike: Sequence[Limit]) -> Result:
        """The result that answers limits with the same question."""

    @abstractmethod
    def _tests(self, entry: TableEntry, spec: TestSpec, limit: Limit, result: Result) -> Iterable[GateTest]:
        """The tests that a result decides."""


def read_alike(entry: TableEntry, others: Iterable[Target]) -> list[Target]:
    """Other tables, read as the entry's own where nothing was said of how to read them."""
    assert entry.target is not None
    read = entry.target.read
    return [replace(one, read=read) if one.read == ReadOptions() else one for one in others]
