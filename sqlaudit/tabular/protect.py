"""A published table with further cells hidden, so that totals do not give back the unsafe ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled
from sqlaudit.models.cell_rules import CellRule
from sqlaudit.tabular.cells import Bools, CellMeasure, TableCells
from sqlaudit.tabular.exact import as_integers
from sqlaudit.tabular.facets import facets_of, in_circle
from sqlaudit.tabular.hidden import measures_of
from sqlaudit.tabular.openness import protection_of
from sqlaudit.tabular.problems import unclear_cells
from sqlaudit.tabular.request import AggregatesRequest, CellPrice
from sqlaudit.tabular.secondary.hiding import Hiding, Protected
from sqlaudit.tabular.secondary.intervals import Protection, deduce, end_of, judge
from sqlaudit.tabular.secondary.protecting import hide
from sqlaudit.tabular.secondary.rounding import round_together
from sqlaudit.tabular.secondary.structure import Integers
from sqlaudit.tabular.secondary.system import FREE, PublishedTable
from sqlaudit.tabular.totals import AddedUp

_AUDITED = 1.0
"""What is written is audited for at least so many seconds, whatever the search took."""


@dataclass(frozen=True, eq=False)
class ProtectedCells:
    """Which cells are hidden.

    Args:
        unsafe: those that rules find. hidden: with the others. found: the search for each measure, the last one first.
    """

    unsafe: Bools
    hidden: Bools
    found: tuple[Protected, ...]

    @property
    def safe(self) -> bool:
        """Whether every unsafe cell is proven to be open enough, by each measure."""
        return all(one.safe for one in self.found)

    @property
    def cost(self) -> int:
        """What the others cost."""
        return sum(one.cost for one in self.found)

    @property
    def bound(self) -> int:
        """No answer costs less, as far as is proven."""
        return max((one.bound for one in self.found), default=0)

    @property
    def stopped(self) -> str:
        """Why a search ended early."""
        return next((one.stopped for one in self.found if one.stopped), "")

    @property
    def open(self) -> int:
        """Unsafe cells that nothing protects."""
        return len({int(cell) for one in self.found for cell in one.open})


def protect_cells(
    cells: TableCells, unsafe: Bools, rules: Sequence[CellRule], request: AggregatesRequest
) -> ProtectedCells:
    """Hide the unsafe cells, and at a low cost others, so that nobody can compute what is hidden.

    Args:
        cells: with all their numbers. unsafe: those that rules find. rules: that were asked for: they say how open is
            enough. request: what a cell costs, and how long it may take.

    Raises:
        UsageError: some cells have no number, or totals are wrong. MissingDriver: HiGHS is not installed.
    """
    added = _complete(cells)
    end = end_of(request.time_limit)
    hidden, found = unsafe.copy(), []
    costs = added.with_missing(_costs(cells, request.price), 0)
    for name, one in released(cells):
        left = _left(end)
        given = _hiding(added, cells, name, one, unsafe, rules)
        already = added.with_missing(hidden, True)
        answer = hide(replace(given, costs=np.where(already, 0, costs)), exact=not request.fast, seconds=left)
        hidden |= answer.hidden[: len(cells)]
        found.append(answer)
    return ProtectedCells(unsafe, hidden, tuple(found))


def _left(end: float | None, least: float = 0.0) -> float | None:
    """The seconds until then, but at least so many; None where there is no end."""
    return None if end is None else max(least, end - time.monotonic())


@dataclass(frozen=True, eq=False)
class RoundedCells:
    """A table of multiples of a base that still adds up.

    Args:
        values: of the cells, for each measure, in its units. moved: by how much cells were changed in all, in units.
        bound: no such table changes less, as far as is proven. open: unsafe cells whose limits are too near.
        stopped: why a search ended early.
    """

    values: Mapping[str, Integers]
    moved: int
    bound: int
    open: int
    stopped: str


def round_cells(
    cells: TableCells, unsafe: Bools, rules: Sequence[CellRule], request: AggregatesRequest, base: int
) -> RoundedCells:
    """Round every cell to a multiple of a base, so that totals still add up; see how open this leaves unsafe cells.

    Args:
        cells, unsafe, rules, request: as for `protect_cells`. base: of rounding.

    Raises:
        UsageError: as for `protect_cells`; there is no such table, or none was found in time. MissingDriver: no HiGHS.
    """
    added = _complete(cells)
    equations, end = added.equations, end_of(request.time_limit)
    values, moved, bound, stopped = {}, 0, 0, ""
    narrow = np.zeros(len(cells), dtype=np.bool_)
    for name, one in released(cells):
        given = _hiding(added, cells, name, one, unsafe, rules)
        if bool(equations.residuals(given.values).any()):
            raise UsageError("Cells that do not add up cannot be protected: correct the totals first.")
        step = base * 10**one.places
        found = round_together(equations, given.values, step, seconds=_left(end))
        if found is None:
            raise UsageError(
                f"No table of multiples of {base} that adds up was found; allow more {spelled('time_limit')}."
            )
        values[name], moved, bound = found.values[: len(cells)], moved + found.moved, bound + found.bound
        stopped = found.stopped or stopped
        far = max(step - 1, found.farthest)  # what everybody knows: no cell is farther away
        table = PublishedTable(
            equations,
            found.values,
            np.ones(equations.cells, dtype=np.bool_),
            added.with_missing(np.maximum(found.values - far, 0)[: len(cells)], 0),
            added.with_missing((found.values + far)[: len(cells)], FREE),
            whole=given.whole,
        )
        verdicts = judge(deduce(table, seconds=_left(end, _AUDITED)), given.protection)
        narrow |= (verdicts.unsafe | verdicts.undecided)[: len(cells)]
    return RoundedCells(values, moved, bound, int(narrow.sum()), stopped)


def _complete(cells: TableCells) -> AddedUp:
    """The equations of a table of which everything is known.

    Raises:
        UsageError: a cell has several rows, or no number.
    """
    if cells.added_up is None:
        raise UsageError("A table is protected when every cell has one row.")
    if cells.unclear is not None and bool(cells.unclear.any()):
        raise UsageError(f"{unclear_cells(cells.unclear)}.")
    if in_circle(facets_of(cells)):
        raise UsageError(
            "These are margins of one table that is not there, and more follows from them than from their sums: give "
            "that table, too."
        )
    if bool(cells.hidden.any()):
        raise UsageError(
            "Cells that have no number yet cannot be protected: give the table before anything was hidden."
        )
    return cells.added_up


def released(cells: TableCells) -> list[tuple[str, CellMeasure]]:
    """What a protected table says of each cell: its count and its value; of a table that is made here, how many."""
    found = list(measures_of(cells))
    return [("count", cells.contributors)] if not found and cells.contributors is not None else found


def _hiding(
    added: AddedUp, cells: TableCells, name: str, one: CellMeasure, unsafe: Bools, rules: Sequence[CellRule]
) -> Hiding:
    """What is asked for one measure."""
    values = as_integers(one)
    if values is None or bool((values < 0).any()):
        raise UsageError(
            f"The column of {spelled(name)} has numbers below zero, or too large ones to be added up exactly."
        )
    upper = np.full_like(values, FREE)
    if cells.structural is not None:
        upper[cells.structural] = 0
    asked = protection_of(cells, name, one, values, unsafe, rules)
    people = None if cells.contributors is None or name == "count" else cells.contributors
    alone = None if people is None else people.known & np.asarray(people.units == 1, dtype=np.bool_)
    every, _, _ = added.summed(values, one.known)
    below, above = (None if one is None else added.with_missing(one, 0) for one in (asked.below, asked.above))
    return Hiding(
        added.equations,
        every,
        added.with_missing(unsafe, False),
        Protection(added.with_missing(asked.sliding, 0), every, below, above),
        every,
        np.zeros_like(every),
        added.with_missing(upper, FREE),
        name == "count",
        None if alone is None else added.with_missing(alone, False),
        np.concatenate([cells.keys, added.missing]).astype(np.int64),
    )


def _costs(cells: TableCells, price: CellPrice) -> Integers:
    """What hiding each cell costs, at least 1."""
    measure = {CellPrice.COUNT: cells.contributors, CellPrice.VALUE: cells.value, CellPrice.ONE: None}[price]
    units = None if measure is None else as_integers(measure)
    if units is None:
        if price is not CellPrice.ONE:
            raise UsageError(f"{spelled('price', str(price))} needs a column that says it.")
        return np.ones(len(cells), dtype=np.int64)
    whole: Integers = np.maximum(1, units // 10 ** (0 if measure is None else measure.places))
    return whole


def rows_of(
    cells: TableCells,
    hidden: Bools,
    labels: dict[tuple[int, int], str],
    shift: int,
    instead: Mapping[str, Integers] | None = None,
) -> Iterator[list[tuple[str | int | float | None, ...]]]:
    """The rows of the protected table, some thousand at a time: what they are broken down by, then each measure.

    Args:
        cells: the table. hidden: cells that get no number. labels: of codes, less the shift, by (dimension, code).
        instead: other values for each measure.
    """
    measures = [(one, (instead or {}).get(name, one.units).tolist()) for name, one in released(cells)]
    for start in range(0, len(cells), 10_000):
        batch = []
        for cell in range(start, min(start + 10_000, len(cells))):
            keys = [labels.get((place, int(code) - shift)) for place, code in enumerate(cells.keys[cell])]
            numbers = [None if hidden[cell] else _number(units[cell], one.places) for one, units in measures]
            batch.append((*keys, *numbers))
        yield batch


def _number(units: int, places: int) -> int | float:
    """What is written: a whole number, or the float that prints as the decimal."""
    return units if not places else units / 10**places
