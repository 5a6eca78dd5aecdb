"""A published table with further cells hidden, so that totals do not give back the unsafe ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled
from sqlaudit.models.cell_rules import CellRule, FewContributors, NoUnpickableCell
from sqlaudit.tabular.cells import Bools, CellMeasure, TableCells
from sqlaudit.tabular.hidden import as_integers, measures_of
from sqlaudit.tabular.request import AggregatesRequest, CellPrice
from sqlaudit.tabular.secondary.intervals import Protection
from sqlaudit.tabular.secondary.protecting import Hiding, Protected, hide
from sqlaudit.tabular.secondary.structure import Equations, Integers
from sqlaudit.tabular.secondary.system import FREE

_SHARE = Fraction(1, 10)
"""How far apart the limits of the sum of an unsafe cell are at least, as a share of it, where nothing else says it."""


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
    equations = cells.equations
    if equations is None:
        raise UsageError("A table is protected when every cell has one row.")
    if bool(cells.hidden.any()):
        raise UsageError(
            "Cells that have no number yet cannot be protected: give the table before anything was hidden."
        )
    end = None if request.time_limit is None else time.monotonic() + request.time_limit
    hidden, found = unsafe.copy(), []
    costs = _costs(cells, request.price)
    for name, one in released(cells):
        left = None if end is None else max(0.0, end - time.monotonic())
        given = _hiding(equations, cells, name, one, unsafe, rules)
        answer = hide(replace(given, costs=np.where(hidden, 0, costs)), exact=not request.fast, seconds=left)
        hidden |= answer.hidden
        found.append(answer)
    return ProtectedCells(unsafe, hidden, tuple(found))


def released(cells: TableCells) -> list[tuple[str, CellMeasure]]:
    """What a protected table says of each cell: its count and its value; of a table that is made here, how many."""
    found = list(measures_of(cells))
    return [("count", cells.contributors)] if not found and cells.contributors is not None else found


def _hiding(
    equations: Equations, cells: TableCells, name: str, one: CellMeasure, unsafe: Bools, rules: Sequence[CellRule]
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
    sliding = np.where(unsafe, _width(name, one, values, rules), 0)
    people = None if cells.contributors is None or name == "count" else cells.contributors
    alone = None if people is None else people.known & np.asarray(people.units == 1, dtype=np.bool_)
    nothing = np.zeros_like(values)
    return Hiding(equations, values, unsafe, Protection(sliding), values, nothing, upper, name == "count", alone)


def _width(name: str, one: CellMeasure, values: Integers, rules: Sequence[CellRule]) -> Integers:
    """How far apart the limits of an unsafe cell are at least, in units of the measure."""
    asked = [Fraction(rule.values["width"]) for rule in rules if rule.name == NoUnpickableCell.name]
    if asked:
        return np.full_like(values, max(1, ceil(max(asked) * 10**one.places)))
    if name == "count":
        threshold = [int(rule.values["n"]) for rule in rules if rule.name == FewContributors.name]
        return np.full_like(values, max([1, *(n - 1 for n in threshold)]))
    return np.maximum(1, -(-values * _SHARE.numerator // _SHARE.denominator))


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
    cells: TableCells, hidden: Bools, labels: dict[tuple[int, int], str], shift: int
) -> Iterator[list[tuple[str | int | float | None, ...]]]:
    """The rows of the protected table, some thousand at a time: what they are broken down by, then each measure."""
    measures = [(one, one.units.tolist()) for _, one in released(cells)]
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
