"""Tests of the cells of published tables: one reading for all rules over the same cells."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlaudit.base.errors import Interrupted, SqlauditError
from sqlaudit.base.result import Status
from sqlaudit.base.spec import ReadOptions
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.judging import errored, judged
from sqlaudit.gates.result import GateTest, Outcome
from sqlaudit.gates.spec import CellLimit, TableEntry, TestSpec
from sqlaudit.models.check import Check
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.tabular.result import AggregatesResult, RuleFound

_OUTSIDERS = "Hidden cells are judged for outsiders, and not for contributors, who know their own part."


@dataclass
class CellTests:
    """Runs the tests on the cells of one table.

    Args:
        engine: an open engine. today: the day that exceptions are compared with.
    """

    engine: Engine
    today: datetime.date
    _found: dict[CellLimit, AggregatesResult] = field(default_factory=dict)

    def run(self, entry: TableEntry, spec: TestSpec, limit: CellLimit) -> list[GateTest]:
        """The test of a rule.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        try:
            result = self._result(entry, limit)
        except Interrupted:
            raise
        except SqlauditError as error:
            return [errored(entry, spec, error)]
        test = judged(entry, spec, _check(result, spec, limit), result.cells, None, self.today)
        rule = CELL_RULES[limit.request.requirements[0].model]
        if result.outsiders_only and test.outcome is Outcome.PASS and rule.of_hidden:
            test = replace(test, message=f"{test.message} {_OUTSIDERS}".strip())
        shown = "; ".join(_keys(result, limit)) if limit.request.show_values else ""
        return [replace(test, message=f"{test.message} Cells: {shown}.".strip()) if shown else test]

    def _result(self, entry: TableEntry, limit: CellLimit) -> AggregatesResult:
        """What answers a rule and all others over the same cells."""
        from sqlaudit.tabular.run import find_unsafe_cells

        asked = _cells(limit)
        if asked not in self._found:
            assert entry.target is not None
            alike = [test.cells for test in entry.tests if test.cells is not None and _cells(test.cells) == asked]
            rules = tuple(one for other in alike for one in other.request.requirements)
            read = entry.target.read
            before, linked = (
                [replace(one, read=read) if one.read == ReadOptions() else one for one in some]
                for some in (limit.before, limit.linked)
            )
            request = replace(limit.request, requirements=rules)
            self._found[asked] = find_unsafe_cells(self.engine, entry.target, request, before, linked)
        return self._found[asked]


def _keys(result: AggregatesResult, limit: CellLimit) -> Iterator[str]:
    """The unsafe cells of a rule by their dimensions, where the policy allows to tell them."""
    over = [*result.rules, *(one for two in result.differences for one in two.unsafe)]
    for one in over:
        if one.text == limit.request.requirements[0].text:
            for key in one.keys:
                yield ", ".join(f"{name}={'–' if value is None else value}" for name, value in key.items())


def _cells(limit: CellLimit) -> CellLimit:
    """What two rules must have in common to be answered by one reading."""
    return replace(limit, request=replace(limit.request, requirements=()))


def _check(result: AggregatesResult, spec: TestSpec, limit: CellLimit) -> Check:
    """A rule over cells and over what changed, as a check: how many cells are unsafe."""
    wanted = limit.request.requirements[0].text
    over = [*result.rules, *(one for two in result.differences for one in two.unsafe)]
    found = [one for one in over if one.text == wanted]
    unsafe = sum(one.cells for one in found)
    of_changes = unsafe - found[0].cells
    undecided = any(one.undecided or one.status is Status.UNDETERMINED for one in found)
    undecided |= bool(result.mistakes) or not result.cells
    status = Status.FAIL if unsafe else Status.UNDETERMINED if undecided else Status.PASS
    notes = [problem.message for problem in result.mistakes] or [_note(one) for one in found if one.note]
    return Check(
        model=found[0].rule,
        sensitive=None,
        parameters=found[0].parameters,
        level=unsafe,
        levels={"unsafe_cells": found[0].cells, "unsafe_changes": of_changes},
        operator="<=",
        required=0,
        status=status,
        failing_rows=unsafe,
        text=spec.requirement,
        note=notes[0] if notes and status is Status.UNDETERMINED else "",
        title=f"Unsafe cells by the {CELL_RULES[found[0].rule].title}",
    )


def _note(one: RuleFound) -> str:
    """What was missing, as the end of a sentence or one of its own."""
    return f"the rule {one.note}" if one.note.startswith(one.text) else one.note
