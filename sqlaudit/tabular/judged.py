"""The cells of one table as they are judged: what each rule says of them, what follows from others, and their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import write_rows
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Requirement
from sqlaudit.base.words import spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Context
from sqlaudit.models.cell_rules import CellRule, Verdicts
from sqlaudit.models.margin_rules import NoUnpickableCell
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.reports.figures import plural
from sqlaudit.tabular import drawing
from sqlaudit.tabular.cells import Bools, Codes, TableCells, Wholes
from sqlaudit.tabular.hidden import only_small_ones, published_elsewhere, rounded
from sqlaudit.tabular.levels import hidden_with_contributions, judged_at_limits
from sqlaudit.tabular.listing import ListedCells, keys_shown
from sqlaudit.tabular.problems import problems_of
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import (
    AggregatesResult,
    CellInterval,
    CellProtection,
    DrawnTable,
    ReleaseDifference,
    RuleFound,
    TableProblem,
)
from sqlaudit.tabular.totals import contributors_of, grand_totals

_OF_NUMBERS = "{} can be judged of a change when the rows are compared that the tables were made from."
MOST_KEYS = 20
"""So many keys of unsafe cells are shown for a rule."""
MOST_INTERVALS = 20
"""So many hidden cells are shown with what published ones leave them."""
_ANY_WIDTH = Fraction(1, 10**18)
"""Limits that are less apart are equal."""


@dataclass(frozen=True)
class JudgedCells:
    """The cells of one table, and the rules over them.

    Args:
        margins: for rules that compare cells with their margins, all cells with these; None where the cells tell.
    """

    engine: Engine
    listed: ListedCells
    cells: TableCells
    request: AggregatesRequest
    margins: TableCells | None = None

    def result(self, label: str) -> AggregatesResult:
        """Everything that was asked, without where it comes from."""
        cells = self.cells
        rules, unsafe = self._rules()
        problems = tuple(replace(problem, keys=self._shown(keys)) for problem, keys in self._problems())
        if any(problem.is_mistake for problem in problems):  # then nothing that cells say holds for certain
            rules = tuple(replace(one, status=_not_certain(one.status)) for one in rules)
        return AggregatesResult(
            target=label,
            by=self.listed.names,
            columns=self.listed.columns,
            totals=tuple(one.name for one in cells.dimensions if bool(one.is_total.any())),
            subtotals={one.name: number for one in cells.dimensions if (number := one.subtotals)},
            cells=len(cells),
            contributors=contributors_of(cells),
            contributors_added_up=cells.contributors is not None and not bool(grand_totals(cells).any()),
            unsafe_cells=unsafe,
            rules=rules,
            hidden=int(cells.hidden.sum()),
            deducible=self._deducible(),
            intervals=tuple(self._intervals()),
            outsiders_only=self._about_outsiders(),
            small_counts_hidden=only_small_ones(cells),
            rounded=() if self.request.microdata else tuple(rounded(cells)),
            drawn=self._drawn(),
            problems=problems,
        )

    def difference(self, before: str, after: str) -> ReleaseDifference:
        """What was asked of cells that are changes from one release to another."""
        rules, unsafe = self._rules()
        if not self.request.microdata:
            rules = tuple(replace(one, note=_OF_NUMBERS.format(one.text)) if one.undecided else one for one in rules)
        return ReleaseDifference(before, after, len(self.cells), unsafe, rules)

    @property
    def not_safe(self) -> list[Bools]:
        """For each rule, the cells that fall short of it or that it cannot decide."""
        return [verdict.unsafe | ~verdict.judged & ~self._read(rule_of(one)).hidden for one, verdict in self._verdicts]

    def _rules(self) -> tuple[tuple[RuleFound, ...], int]:
        """What each rule says, and how many cells fall short of some."""
        found = tuple(self._found(one, verdict) for one, verdict in self._verdicts)
        return found, int(self._unsafe.sum())

    @cached_property
    def _verdicts(self) -> tuple[tuple[Requirement, Verdicts], ...]:
        rules = [(one, rule_of(one)) for one in self.request.requirements]
        return tuple((one, self._verdict(rule)) for one, rule in rules)

    def _verdict(self, rule: CellRule) -> Verdicts:
        """What a rule says of what is published, and of hidden cells whose contributions are given."""
        if rule.of_margins and self.margins is not None:
            found, own = rule.verdicts(self.margins), self._beside_margins(self.margins)
            return Verdicts(found.unsafe[own], found.judged[own], found.missing)
        found = rule.verdicts(self._read(rule))
        if self.request.microdata:
            return found
        unsafe, judged = judged_at_limits(self.cells, rule)
        is_open = bool((hidden_with_contributions(self.cells, rule) & ~judged).any())
        missing = found.missing or (self.cells.pinned(_ANY_WIDTH)[2] if is_open else "")
        return Verdicts(found.unsafe | unsafe, found.judged | judged, missing)

    def _beside_margins(self, margins: TableCells) -> Wholes:
        """Where the cells are among those with margins, whose codes begin with that of all values."""
        keys = self.cells.keys + (0 if self.listed.flags else 1)
        order = np.argsort(margins.numbers, kind="stable")
        return order[np.searchsorted(margins.numbers[order], margins.packed(keys))]

    @cached_property
    def _unsafe(self) -> Bools:
        """Cells that fall short of some rule."""
        found = np.zeros(len(self.cells), dtype=np.bool_)
        for _, verdict in self._verdicts:
            found |= verdict.unsafe
        return found

    def _read(self, rule: CellRule) -> TableCells:
        """The cells as a rule takes them: what totals give back is published, but to a rule about just that."""
        return self.cells if rule.of_hidden else self.cells.read_through

    def _looked(self, rule: CellRule) -> Bools:
        """The cells that a rule is about."""
        if rule.of_hidden:
            return np.ones(len(self.cells), dtype=np.bool_)
        looked = ~self._read(rule).hidden
        return looked if self.request.microdata else looked | hidden_with_contributions(self.cells, rule)

    def _found(self, requirement: Requirement, verdict: Verdicts) -> RuleFound:
        rule = rule_of(requirement)
        looked = self._looked(rule)
        undecided = ~verdict.judged & ~verdict.unsafe & looked
        text = requirement.text or requirement.model
        status = _status(requirement, int(verdict.unsafe.sum()), int(undecided.sum()))
        return RuleFound(
            rule=requirement.model,
            cells=int(verdict.unsafe.sum()),
            parameters=rule.values,
            text=text,
            judged=int((verdict.judged & looked).sum()),
            undecided=int(undecided.sum()),
            status=status,
            severity=requirement.severity,
            note=f"{text} needs {verdict.missing}." if undecided.any() and verdict.missing else "",
            keys=self._keys(verdict.unsafe),
        )

    def _about_outsiders(self) -> bool:
        """Whether a rule judges what is left open of hidden cells; what contributors have is not told."""
        return bool(self.cells.hidden.any()) and any(rule_of(one).of_hidden for one in self.request.requirements)

    def _problems(self) -> Iterator[tuple[TableProblem, Codes]]:
        """Mistakes; in a table that was made here, totals are right. And hidden cells that rules may have to judge."""
        yield from problems_of(self.cells, added_up=self.request.microdata)
        if self.cells.unpicked:
            unsafe, judged, missing = self.cells.pinned(_ANY_WIDTH)
            open_ones = self.cells.hidden & ~judged & ~unsafe
            if number := int(open_ones.sum()):
                said = f"It is not known of {plural(number, 'hidden cell')} whether published ones give them away"
                yield (
                    TableProblem("undecided_hidden_cells", number, f"{said}: that needs {missing}."),
                    self.cells.keys[open_ones],
                )

    def _drawn(self) -> DrawnTable | None:
        """The table with marks, when values are shown."""
        if not self.request.show_values or len(self.cells) > drawing.MOST_ROWS * drawing.MOST_COLUMNS:
            return None
        shift = 1 if self.listed.flags else 0
        return drawing.drawn(self.cells, self._unsafe, self._labels(), shift)

    def _labels(self) -> dict[tuple[int, int], str]:
        """The values of all dimensions."""
        shift = 1 if self.listed.flags else 0
        codes = [np.unique(column - shift).tolist() for column in self.cells.keys.T]
        return self.listed.labels(self.engine, codes)

    def protected(self) -> CellProtection:
        """The table with unsafe cells and others hidden, written when it is proven to be safe.

        Raises:
            UsageError: nothing says which cells are unsafe, or the table is not complete. MissingDriver: no HiGHS.
        """
        from sqlaudit.tabular.protect import protect_cells

        rules = [rule_of(one) for one in self.request.requirements]
        if all(rule.of_hidden for rule in rules):
            raise UsageError(f"Say which cells are unsafe with {spelled('require', 'threshold=5')}.")
        unsafe = self._unsafe
        if self.request.round_to is not None:
            return self._rounded(unsafe, rules, self.request.round_to)
        found = protect_cells(self.cells, unsafe, rules, self.request)
        if found.safe and self.request.to is not None:
            self._write(self.request.to, found.hidden)
        further = found.hidden & ~unsafe
        return CellProtection(
            int(unsafe.sum()),
            int(further.sum()),
            found.cost,
            found.bound,
            found.open,
            found.safe,
            found.stopped,
            str(self.request.to or "") if found.safe else "",
            self._keys(further),
        )

    def _rounded(self, unsafe: Bools, rules: Sequence[CellRule], base: int) -> CellProtection:
        """The table rounded to multiples of a base, written when unsafe cells are open enough."""
        from sqlaudit.tabular.protect import round_cells

        found = round_cells(self.cells, unsafe, rules, self.request, base)
        file = self.request.to if not found.open else None
        if file is not None:
            self._write(file, np.zeros_like(unsafe), found.values)
        number, safe, written = int(unsafe.sum()), not found.open, str(file or "")
        return CellProtection(
            number, 0, found.moved, found.bound, found.open, safe, found.stopped, written, rounded_to=base
        )

    def _write(self, file: Path, hidden: Bools, instead: Mapping[str, Wholes] | None = None) -> None:
        """Write the protected table: what it is broken down by, and what is published of each cell."""
        from sqlaudit.tabular.protect import released, rows_of

        shift = 1 if self.listed.flags else 0
        labels = self._labels()
        names = [self.listed.columns.get(name, name) for name, _ in released(self.cells)]
        write_rows(file, [*self.listed.names, *names], rows_of(self.cells, hidden, labels, shift, instead))

    def _deducible(self) -> int | None:
        """How many hidden cells published ones give away entirely."""
        if not bool(self.cells.hidden.any()) or any(one.deduced is None for one in self.cells.unpicked):
            return None
        unsafe, _, _ = self.cells.pinned(_ANY_WIDTH)
        return int(unsafe.sum()) if self.cells.added_up is not None else None

    def _intervals(self) -> Iterator[CellInterval]:
        """What published cells leave hidden ones, with keys, when these are shown."""
        if not self.request.show_values:
            return
        wanted = [rule_of(one).values for one in self.request.requirements if one.model == NoUnpickableCell.name]
        width = max((Fraction(values["width"]) for values in wanted), default=Fraction(0))
        found = [
            (cell, one, hidden.proof(cell) if one.lower == one.upper else ())
            for hidden in self.cells.unpicked
            for cell, one in hidden.intervals(width, MOST_INTERVALS)
        ]
        found = [*published_elsewhere(self.cells, width, MOST_INTERVALS), *found]
        used = sorted({part for cell, _, proof in found for part in (cell, *(part for part, _ in proof))})
        keys = self.cells.keys[np.array(used, dtype=np.int64)].tolist()
        named = dict(zip(used, keys_shown(self.engine, self.listed, keys), strict=True)) if used else {}
        for cell, one, proof in found:
            adds = tuple(named[part] for part, weight in proof if weight > 0)
            takes = tuple(named[part] for part, weight in proof if weight < 0)
            yield replace(one, cell=named[cell], adds=adds, takes=takes)

    def _keys(self, which: Bools) -> tuple[Mapping[str, str | None], ...]:
        """The keys of some cells, when they are shown."""
        return self._shown(self.cells.keys[np.flatnonzero(which)])

    def _shown(self, every: Codes) -> tuple[Mapping[str, str | None], ...]:
        if not self.request.show_values:
            return ()
        keys = every[:MOST_KEYS]
        return keys_shown(self.engine, self.listed, keys.tolist()) if len(keys) else ()


def rule_of(requirement: Requirement) -> CellRule:
    """The rule that a requirement names.

    Raises:
        UsageError: it is no rule for cells.
    """
    if requirement.model not in CELL_RULES:
        raise UsageError(f"{requirement.text or requirement.model!r} is no rule for the cells of a table.")
    return CELL_RULES[requirement.model](requirement.parameters, Context(None, 0))


def _status(requirement: Requirement, unsafe: int, undecided: int) -> Status:
    if unsafe:
        return Status.WARN if requirement.severity == "warn" else Status.FAIL
    return Status.UNDETERMINED if undecided else Status.PASS


def _not_certain(status: Status) -> Status:
    return Status.UNDETERMINED if status is Status.PASS else status
