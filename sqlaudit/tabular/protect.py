"""What is wrong with a published table itself, and further cells hidden so that totals give none back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.models.cell_rules import CellRule, FewContributors
from sqlaudit.reports.document import plural
from sqlaudit.tabular.cells import Bools, CellMeasure, Codes, TableCells, as_integers, measures_of
from sqlaudit.tabular.request import AggregatesRequest, CellPrice
from sqlaudit.tabular.result import LEFT_OUT, MISSING_TOTALS, TableProblem
from sqlaudit.tabular.secondary.intervals import Protection, deduce, end_of, judge, seconds_left
from sqlaudit.tabular.secondary.protecting import Hiding, Protected, hide
from sqlaudit.tabular.secondary.system import FREE, Integers, PublishedTable, round_together
from sqlaudit.tabular.totals import AddedUp, added_up, broken_totals, facets_of, in_circle, missing_totals

# What is wrong with a table of counts and sums itself, before any rule: each kind of mistake once, by cell.

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
_LEFT_OUT = "have no row, although totals exceed the rows below them: such cells count as hidden"
_UNCLEAR = (
    "may be a total, or a part of one that the hierarchy leaves out, from which hidden cells follow: name a total with "
    "{} (NULL for a missing value), list a part in the hierarchy, or say with {} that there is no total"
)


def problems_of(cells: TableCells, *, added_up: bool = False) -> Iterator[tuple[TableProblem, Codes]]:
    """Each mistake with the keys of the cells that have it; `added_up` when totals are known to be right."""
    unclear = cells.unclear if bool(cells.hidden.any()) else cells.rolled_up
    misnamed = cells.misnamed if bool(cells.hidden.any()) else None
    for code, which, said in (
        ("duplicate_cells", _repeated(cells), "have a key that another cell has, too: give every cell one row"),
        ("negative_counts", _anywhere(cells, lambda one: (one.units < 0).astype(np.bool_)), "have a negative count"),
        ("fractional_counts", cells.fractional, "have a count that is no whole number"),
        ("unclear_totals", unclear, _unclear()),
        ("other_names", misnamed, _OTHER_NAMES),
        ("linked_numbers", cells.disagreeing, _DISAGREEING),
        (LEFT_OUT, cells.left_out, _LEFT_OUT),
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


# A published table with further cells hidden, so that totals do not give back the unsafe ones.

_SHARE = Fraction(1, 10)
"""How far apart the limits of the sum of an unsafe cell are at least, as a share of it, where nothing else says it."""


def protection_of(
    cells: TableCells, name: str, one: CellMeasure, values: Integers, unsafe: Bools, rules: Sequence[CellRule]
) -> Protection:
    """What is asked of the limits of unsafe cells.

    Sums that a rule on contributions finds unsafe have the protection levels of the Handbook on Statistical Disclosure
    Control: their limits are below and above the true value by as much as lets the rule hold. Others, and what
    `no_unpickable_cell` asks, have a width.

    Args:
        cells: with all their numbers. name, one: of the measure, `count` or `value`. values: its units.
        unsafe: cells that rules find. rules: that were asked for.

    Raises:
        UsageError: a rule that nothing protects from.
    """
    sliding = np.where(unsafe, _width(name, one, values, rules), 0)
    if name != "value":
        return Protection(sliding)
    level = np.where(unsafe, _level(cells, values, rules), 0)
    if not any(rule.of_hidden for rule in rules):
        sliding = np.where(level > 0, 0, sliding)
    return Protection(sliding, values, np.minimum(level, values), level)


def _level(cells: TableCells, values: Integers, rules: Sequence[CellRule]) -> Integers:
    """The highest level that a rule asks of each cell, 0 where none does."""
    found = np.zeros_like(values)
    for rule in rules:
        asked = rule.level(cells)
        if asked is not None:
            units, known = asked
            within = np.minimum(np.where(known, units, 0), FREE // 4)  # farther than any limit is
            found = np.maximum(found, within.astype(np.int64))
    return found


def _width(name: str, one: CellMeasure, values: Integers, rules: Sequence[CellRule]) -> Integers:
    """How far apart the limits of an unsafe cell are at least, in units of the measure."""
    asked = [rule.width for rule in rules if rule.of_hidden]
    if asked:
        return np.full_like(values, max(1, ceil(max(asked) * 10**one.places)))
    if name == "count":
        threshold = [int(rule.values["n"]) for rule in rules if rule.name == FewContributors.name]
        return np.full_like(values, max([1, *(n - 1 for n in threshold)]))
    return np.maximum(1, -(-values * _SHARE.numerator // _SHARE.denominator))


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
        left = seconds_left(end)
        given = _hiding(added, cells, name, one, unsafe, rules)
        already = added.with_missing(hidden, True)
        answer = hide(replace(given, costs=np.where(already, 0, costs)), exact=not request.fast, seconds=left)
        hidden |= answer.hidden[: len(cells)]
        found.append(answer)
    return ProtectedCells(unsafe, hidden, tuple(found))


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
        found = round_together(equations, given.values, step, seconds=seconds_left(end))
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
        verdicts = judge(deduce(table, seconds=seconds_left(end, _AUDITED)), given.protection)
        narrow |= (verdicts.unsafe | verdicts.undecided)[: len(cells)]
    return RoundedCells(values, moved, bound, int(narrow.sum()), stopped)


def _complete(cells: TableCells) -> AddedUp:
    """The equations of a table of which everything is known.

    Raises:
        UsageError: a cell has several rows, or no number.
    """
    added = added_up(cells)
    if added is None:
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
    return added


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
    cells: TableCells, hidden: Bools, labels: dict[tuple[int, int], str], instead: Mapping[str, Integers] | None = None
) -> Iterator[list[tuple[str | int | float | None, ...]]]:
    """The rows of the protected table, some thousand at a time: what they are broken down by, then each measure.

    Args:
        cells: the table. hidden: cells that get no number. labels: of codes, by (dimension, code).
        instead: other values for each measure.
    """
    measures = [(one, (instead or {}).get(name, one.units).tolist()) for name, one in released(cells)]
    for start in range(0, len(cells), 10_000):
        batch = []
        for cell in range(start, min(start + 10_000, len(cells))):
            keys = [labels.get((place, int(code))) for place, code in enumerate(cells.keys[cell])]
            numbers = [None if hidden[cell] else _number(units[cell], one.places) for one, units in measures]
            batch.append((*keys, *numbers))
        yield batch


def _number(units: int, places: int) -> int | float:
    """What is written: a whole number, or the float that prints as the decimal."""
    return units if not places else units / 10**places
