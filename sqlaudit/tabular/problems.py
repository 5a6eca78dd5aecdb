"""What is wrong with a table of counts and sums itself, before any rule: each kind of mistake once, by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sqlaudit.base.words import spelled
from sqlaudit.reports.figures import plural
from sqlaudit.tabular.cells import Bools, CellMeasure, Codes, TableCells
from sqlaudit.tabular.hidden import broken_totals
from sqlaudit.tabular.result import MISSING_TOTALS, TableProblem
from sqlaudit.tabular.totals import missing_totals

_WRONG = (
    "have another value than their parts together: correct them, or give cells that were left out a row without number"
)


_NOISY = (
    "have nearly the value of their parts together, as where noise was added: what follows from such numbers is not "
    "exact, and nothing is said of it"
)
_OTHER_NAMES = (
    "have a value that may be the same as another one by another name, and then hidden cells may follow: spell values "
    "alike, in all linked tables"
)
_DISAGREEING = "have different numbers in linked tables: correct them, or link tables of the same people alone"
_UNCLEAR = (
    "may be a total, or a part of one that the hierarchy leaves out, from which hidden cells follow: name a total with "
    "{}, list a part in the hierarchy, or say with {} that there is no total"
)


def problems_of(cells: TableCells, *, added_up: bool = False) -> Iterator[tuple[TableProblem, Codes]]:
    """Each mistake with the keys of the cells that have it; `added_up` when totals are known to be right."""
    unclear = cells.unclear if bool(cells.hidden.any()) else None  # where nothing is hidden it does not matter
    misnamed = cells.misnamed if bool(cells.hidden.any()) else None
    for code, which, said in (
        ("duplicate_cells", _repeated(cells), "have a key that another cell has, too: give every cell one row"),
        ("negative_counts", _anywhere(cells, _negative), "have a negative count"),
        ("fractional_counts", cells.fractional, "have a count that is no whole number"),
        ("unclear_totals", unclear, _unclear()),
        ("other_names", misnamed, _OTHER_NAMES),
        ("linked_numbers", cells.disagreeing, _DISAGREEING),
        ("wrong_totals", None if added_up else broken_totals(cells, noisy=False), _WRONG),
        ("noisy_totals", None if added_up else broken_totals(cells, noisy=True), _NOISY),
    ):
        number = 0 if which is None else int(which.sum())
        if which is not None and number:
            yield TableProblem(code, number, f"{_of(number, said)}."), cells.keys[which]
    missing = cells.keys[:0] if added_up else missing_totals(cells)
    if number := len(missing):
        verb, they = ("is", "it") if number == 1 else ("are", "them")
        said = f"{plural(number, 'total')} of published cells {verb} not in the table"
        yield TableProblem(MISSING_TOTALS, number, f"{said}: nothing is said of one that has {they}."), missing


def _unclear() -> str:
    return _UNCLEAR.format(spelled("total", "column=value"), spelled("total", "column="))


def unclear_cells(which: Bools) -> str:
    """What is said of cells that may be totals."""
    return _of(int(which.sum()), _unclear())


def _of(number: int, said: str) -> str:
    return f"{plural(number, 'cell')} {said if number > 1 else said.replace('have ', 'has ', 1)}"


def _repeated(cells: TableCells) -> Bools:
    ordered = np.sort(cells.numbers)
    if not bool((ordered[1:] == ordered[:-1]).any()):  # as a rule, and much cheaper to see than which cells they are
        return np.zeros(len(cells), dtype=np.bool_)
    _, place, counts = np.unique(cells.numbers, return_inverse=True, return_counts=True)
    found: Bools = counts[place.reshape(-1)] > 1
    return found


def _anywhere(cells: TableCells, wrong: Callable[[CellMeasure], Bools]) -> Bools:
    found = np.zeros(len(cells), dtype=np.bool_)
    for one in (cells.count, cells.contributors, cells.holdings):
        if one is not None:
            found |= one.known & wrong(one)
    return found


def _negative(one: CellMeasure) -> Bools:
    return (one.units < 0).astype(np.bool_)
