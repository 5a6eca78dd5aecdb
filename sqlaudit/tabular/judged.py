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
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Requirement
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Context
from sqlaudit.models.cell_rules import CellRule, Verdicts
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.reports.document import plural
from sqlaudit.tabular.cells import Bools, Codes, TableCells, Wholes
from sqlaudit.tabular.hidden import (
    ANY_WIDTH,
    find_pinned,
    hidden_cells,
    hidden_with_contributions,
    judged_at_limits,
    only_small_ones,
    published_elsewhere,
    read_through,
    rounded,
)
from sqlaudit.tabular.listing import ListedCells, keys_shown
from sqlaudit.tabular.protect import problems_of, protect_cells, released, round_cells, rows_of
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
from sqlaudit.tabular.totals import added_up, contributors_of, grand_totals

MOST_ROWS, MOST_COLUMNS = 40, 12
"""Larger tables are not drawn."""


def drawn(cells: TableCells, unsafe: Bools, labels: Mapping[tuple[int, int], str]) -> DrawnTable | None:
    """A table of one or two dimensions with marks; None of a larger one.

    Args:
        cells: the table. unsafe: cells that a rule finds. labels: of codes, by (dimension, code).
    """
    if len(cells.dimensions) > 2 or added_up(cells) is None or not cells.published:
        return None
    codes = [_last_totals(cells, place) for place in range(len(cells.dimensions))]
    if len(codes[0]) > MOST_ROWS or (len(codes) > 1 and len(codes[1]) > MOST_COLUMNS):
        return None
    names = [tuple(labels.get((place, code), "all") for code in some) for place, some in enumerate(codes)]
    marks = _marks(cells, unsafe)
    at = {tuple(key): mark for key, mark in zip(cells.keys.tolist(), marks, strict=True)}
    columns = codes[1] if len(codes) > 1 else [None]
    grid = tuple(
        tuple(at.get((row,) if column is None else (row, column), "") for column in columns) for row in codes[0]
    )
    return DrawnTable(names[0], names[1] if len(names) > 1 else (), grid)


def _last_totals(cells: TableCells, place: int) -> list[int]:
    """The codes of a dimension, those of totals last."""
    found = np.unique(cells.keys[:, place]).tolist()
    return sorted(found, key=lambda code: (bool(cells.dimensions[place].is_total[code]), code))


def _marks(cells: TableCells, unsafe: Bools) -> list[str]:
    """What is written into each cell: its first published number, or `*`, with a mark."""
    one = cells.published[0]
    known = np.zeros(len(cells), dtype=np.bool_)
    for hidden in hidden_cells(cells):
        known[hidden.known_cells[0]] = True
    found = []
    for cell, units in enumerate(one.units.tolist()):
        if one.known[cell]:
            number = f"{units:,}" if not one.places else f"{units / 10**one.places:,.{one.places}f}"
            found.append(f"{number} !" if unsafe[cell] else number)
        else:
            found.append("* ?" if known[cell] else "*")
    return found


_OF_NUMBERS = "{} can be judged of a change when the rows are compared that the tables were made from."
MOST_KEYS = 20
"""So many keys of unsafe cells are shown for a rule."""
MOST_INTERVALS = 20
"""So many hidden cells are shown with what published ones leave them."""


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
            passing = {Status.PASS: Status.UNDETERMINED}
            rules = tuple(replace(one, status=passing.get(one.status, one.status)) for one in rules)
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
        if rule.of_hidden:
            return find_pinned(self.cells, rule.width)
        found = rule.verdicts(read_through(self.cells))
        if self.request.microdata:
            return found
        unsafe, judged = judged_at_limits(self.cells, rule)
        is_open = bool((hidden_with_contributions(self.cells, rule) & ~judged).any())
        missing = found.missing or (find_pinned(self.cells, ANY_WIDTH).missing if is_open else "")
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
        return self.cells if rule.of_hidden else read_through(self.cells)

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
        status = Status.UNDETERMINED if undecided.any() else Status.PASS
        if verdict.unsafe.any():
            status = Status.WARN if requirement.severity == "warn" else Status.FAIL
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
        if hidden_cells(self.cells):
            found = find_pinned(self.cells, ANY_WIDTH)
            open_ones = self.cells.hidden & ~found.judged & ~found.unsafe
            if number := int(open_ones.sum()):
                said = f"It is not known of {plural(number, 'hidden cell')} whether published ones give them away"
                yield (
                    TableProblem("undecided_hidden_cells", number, f"{said}: that needs {found.missing}."),
                    self.cells.keys[open_ones],
                )

    def _drawn(self) -> DrawnTable | None:
        """The table with marks, when values are shown."""
        if not self.request.show_values or len(self.cells) > MOST_ROWS * MOST_COLUMNS:
            return None
        return drawn(self.cells, self._unsafe, self._labels())

    def _labels(self) -> dict[tuple[int, int], str]:
        """The values of all dimensions."""
        return self.listed.labels(self.engine, [np.unique(column).tolist() for column in self.cells.keys.T])

    def protected(self) -> CellProtection:
        """The table with unsafe cells and others hidden, written when it is proven to be safe.

        Raises:
            UsageError: nothing says which cells are unsafe, or the table is not complete. MissingDriver: no HiGHS.
        """
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
        names = [self.listed.columns.get(name, name) for name, _ in released(self.cells)]
        write_rows(file, [*self.listed.names, *names], rows_of(self.cells, hidden, self._labels(), instead))

    def _deducible(self) -> int | None:
        """How many hidden cells published ones give away entirely."""
        if not bool(self.cells.hidden.any()) or any(one.deduced is None for one in hidden_cells(self.cells)):
            return None
        return int(find_pinned(self.cells, ANY_WIDTH).unsafe.sum()) if added_up(self.cells) is not None else None

    def _intervals(self) -> Iterator[CellInterval]:
        """What published cells leave hidden ones, with keys, when these are shown."""
        if not self.request.show_values:
            return
        width = max((rule_of(one).width for one in self.request.requirements), default=Fraction(0))
        found = [
            (cell, one, hidden.proof(cell) if one.lower == one.upper else ())
            for hidden in hidden_cells(self.cells)
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
