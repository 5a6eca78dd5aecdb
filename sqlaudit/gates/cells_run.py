"""Tests of the cells of published tables: one reading for all rules over the same cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlaudit.base.result import Status
from sqlaudit.gates.judging import judged
from sqlaudit.gates.result import GateTest, Outcome
from sqlaudit.gates.shared_runs import SharedRuns, read_alike
from sqlaudit.gates.spec import CellLimit, TableEntry, TestSpec
from sqlaudit.models.check import Check
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.tabular.result import AggregatesResult, RuleFound

_OUTSIDERS = "Hidden cells are judged for outsiders, and not for contributors, who know their own part."


class CellTests(SharedRuns[CellLimit, AggregatesResult]):
    """Runs the tests on the cells of one table, one for each rule."""

    def _limit(self, spec: TestSpec) -> CellLimit | None:
        return spec.cells

    def _question(self, limit: CellLimit) -> CellLimit:
        return replace(limit, request=replace(limit.request, requirements=()))

    def _find(self, entry: TableEntry, alike: Sequence[CellLimit]) -> AggregatesResult:
        from sqlaudit.tabular.run import find_unsafe_cells

        assert entry.target is not None
        rules = tuple(one for other in alike for one in other.request.requirements)
        before, linked = (read_alike(entry, some) for some in (alike[0].before, alike[0].linked))
        request = replace(alike[0].request, requirements=rules)
        return find_unsafe_cells(self.engine, entry.target, request, before, linked)

    def _tests(
        self, entry: TableEntry, spec: TestSpec, limit: CellLimit, result: AggregatesResult
    ) -> Iterator[GateTest]:
        test = judged(entry, spec, _check(result, spec, limit), result.cells, None, self.today)
        rule = CELL_RULES[limit.request.requirements[0].model]
        if result.outsiders_only and test.outcome is Outcome.PASS and rule.of_hidden:
            test = replace(test, message=f"{test.message} {_OUTSIDERS}".strip())
        shown = "; ".join(_keys(result, limit)) if limit.request.show_values else ""
        yield replace(test, message=f"{test.message} Cells: {shown}.".strip()) if shown else test


def _keys(result: AggregatesResult, limit: CellLimit) -> Iterator[str]:
    """The unsafe cells of a rule by their dimensions, where the policy allows to tell them."""
    over = [*result.rules, *(one for two in result.differences for one in two.unsafe)]
    for one in over:
        if one.text == limit.request.requirements[0].text:
            for key in one.keys:
                yield ", ".join(f"{name}={'–' if value is None else value}" for name, value in key.items())


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
