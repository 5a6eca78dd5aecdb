"""The cells of one table as they are judged: what each rule says of them, what follows from others, and their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

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
    codes = []
    for one, keys in zip(cells.dimensions, cells.keys.T, strict=True):
        used = np.unique(keys)
        codes.append(used[np.argsort(one.is_total[used], kind="stable")].tolist())  # those of totals last
    if len(codes[0]) > MOST_ROWS or (len(codes) > 1 and len(codes[1]) > MOST_COLUMNS):
        return None
    names = [tuple(labels.get((place, code), "all") for code in some) for place, some in enumerate(codes)]
    at = dict(zip(map(tuple, cells.keys.tolist()), _marks(cells, unsafe), strict=True))
    columns = [(code,) for code in codes[1]] if len(codes) > 1 else [()]
    grid = tuple(tuple(at.get((row, *column), "") for column in columns) for row in codes[0])
    return DrawnTable(names[0], names[1] if len(names) > 1 else (), grid)


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
        rules = self._found
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
            unsafe_cells=int(self._unsafe.sum()),
            rules=rules,
            hidden=int(cells.hidden.sum()),
            deducible=self._deducible(),
            intervals=tuple(self._intervals()) if self.request.show_values else (),
            outsiders_only=bool(cells.hidden.any()) and any(rule.of_hidden for _, rule, _ in self._verdicts),
            small_counts_hidden=only_small_ones(cells),
            rounded=() if self.request.microdata else tuple(rounded(cells)),
            drawn=drawn(cells, self._unsafe, self._labels()) if self._is_drawn else None,
            problems=problems,
        )

    def difference(self, before: str, after: str) -> ReleaseDifference:
        """What was asked of cells that are changes from one release to another."""
        rules = self._found
        if not self.request.microdata:
            rules = tuple(replace(one, note=_OF_NUMBERS.format(one.text)) if one.undecided else one for one in rules)
        return ReleaseDifference(before, after, len(self.cells), int(self._unsafe.sum()), rules)

    @property
    def not_safe(self) -> list[Bools]:
        """For each rule, the cells that fall short of it or that it cannot decide."""
        read = (
            (self.cells if rule.of_hidden else read_through(self.cells), found) for _, rule, found in self._verdicts
        )
        return [verdict.unsafe | ~verdict.judged & ~cells.hidden for cells, verdict in read]

    @cached_property
    def _verdicts(self) -> tuple[tuple[Requirement, CellRule, Verdicts], ...]:
        rules = [(one, rule_of(one)) for one in self.request.requirements]
        return tuple((one, rule, self._verdict(rule)) for one, rule in rules)

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
        for _, _, verdict in self._verdicts:
            found |= verdict.unsafe
        return found

    def _looked(self, rule: CellRule) -> Bools:
        """The cells that a rule is about: what totals give back is published, but to a rule about just that."""
        if rule.of_hidden:
            return np.ones(len(self.cells), dtype=np.bool_)
        looked = ~read_through(self.cells).hidden
        return looked if self.request.microdata else looked | hidden_with_contributions(self.cells, rule)

    @property
    def _found(self) -> tuple[RuleFound, ...]:
        """What each rule says."""
        return tuple(self._result(*one) for one in self._verdicts)

    def _result(self, requirement: Requirement, rule: CellRule, verdict: Verdicts) -> RuleFound:
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
            keys=self._shown(self.cells.keys[verdict.unsafe]),
        )

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

    @property
    def _is_drawn(self) -> bool:
        return self.request.show_values and len(self.cells) <= MOST_ROWS * MOST_COLUMNS

    def _labels(self) -> dict[tuple[int, int], str]:
        """The values of all dimensions."""
        return self.listed.labels(self.engine, [np.unique(column).tolist() for column in self.cells.keys.T])

    def protected(self) -> CellProtection:
        """The table with unsafe cells and others hidden, written when it is proven to be safe.

        Raises:
            UsageError: nothing says which cells are unsafe, or the table is not complete. MissingDriver: no HiGHS.
        """
        rules = [rule for _, rule, _ in self._verdicts]
        if all(rule.of_hidden for rule in rules):
            raise UsageError(f"Say which cells are unsafe with {spelled('require', 'threshold=5')}.")
        cells, unsafe, request = self.cells, self._unsafe, self.request
        hidden, values = np.zeros_like(unsafe), dict[str, Wholes]()
        if request.round_to is not None:
            found, values = round_cells(cells, unsafe, rules, request, request.round_to)
        else:
            found, hidden = protect_cells(cells, unsafe, rules, request)
        if found.safe and request.to is not None:
            names = [self.listed.columns.get(name, name) for name, _ in released(cells)]
            rows = rows_of(cells, hidden, self._labels(), values)
            write_rows(request.to, [*self.listed.names, *names], rows)
            found = replace(found, file=str(request.to))
        return replace(found, keys=self._shown(cells.keys[hidden & ~unsafe]))

    def _deducible(self) -> int | None:
        """How many hidden cells published ones give away entirely."""
        if not bool(self.cells.hidden.any()) or any(one.deduced is None for one in hidden_cells(self.cells)):
            return None
        return int(find_pinned(self.cells, ANY_WIDTH).unsafe.sum()) if added_up(self.cells) is not None else None

    def _intervals(self) -> Iterator[CellInterval]:
        """What published cells leave hidden ones, with keys."""
        width = max((rule.width for _, rule, _ in self._verdicts), default=Fraction(0))
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

    def _shown(self, every: Codes) -> tuple[Mapping[str, str | None], ...]:
        """Keys of cells, when they are shown."""
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
