"""What is wrong with a published table itself, and further cells hidden so that totals give none back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import ceil

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.models.cell_rules import CellRule
from sqlaudit.reports.document import plural
from sqlaudit.tabular.cells import Bools, CellMeasure, Codes, TableCells, as_integers, measures_of
from sqlaudit.tabular.request import AggregatesRequest, CellPrice
from sqlaudit.tabular.result import LEFT_OUT, MISSING_TOTALS, CellProtection, TableProblem
from sqlaudit.tabular.secondary.intervals import Protection, deduce, end_of, judge, seconds_left
from sqlaudit.tabular.secondary.protecting import Hiding, Protected, hide
from sqlaudit.tabular.secondary.system import FREE, Integers, PublishedTable, round_together
from sqlaudit.tabular.structure import ALL
from sqlaudit.tabular.totals import AddedUp, added_up, broken_totals, facets_of, in_circle, missing_totals

# What is wrong with a table of counts and sums itself, before any rule: each kind of mistake once, by cell.

_WRONG = (
    "have a value that is not the sum of the parts. Correct the numbers, or add a row without a number for each "
    "omitted cell"
)

_NOISY = "have a value close to the sum of the parts, as after noise was added. Hidden cells were not checked"
_OTHER_NAMES = (
    "have a label that may be another spelling of a different one. Hidden cells may then be revealed: spell labels the "
    "same way in all linked tables"
)
_DISAGREEING = "have different numbers in linked tables. Correct them, or link only tables of the same people"
_LEFT_OUT = "have no row, although a total exceeds the rows below it. Omitted cells count as hidden"
_UNCLEAR = (
    "may be a total, or a part that the hierarchy leaves out, and may reveal hidden cells. Name a total with {} (NULL "
    "for a missing value), add a part to the hierarchy, or use {} if there is no total"
)

_NESTED = (
    "have a code that others extend and may be their total, which may reveal small or hidden cells. Use {} if it is "
    "their total, and {} if not"
)


def problems_of(cells: TableCells, *, added_up: bool = False) -> Iterator[tuple[TableProblem, Codes]]:
    """Each mistake with the keys of the cells that have it; `added_up` when totals are known to be right."""
    hides = bool(cells.hidden.any())
    counts = [one for one in (cells.count, cells.contributors, cells.holdings) if one is not None]
    negative = np.logical_or.reduce([np.zeros(len(cells), np.bool_), *(one.known & (one.units < 0) for one in counts)])
    for code, which, said in (
        ("duplicate_cells", _repeated(cells), "have the same key as another cell. Give every cell one row"),
        ("negative_counts", negative, "have a negative count"),
        ("fractional_counts", cells.fractional, "have a count that is not a whole number"),
        ("unclear_totals", cells.unclear if hides else cells.rolled_up, _unclear()),
        ("unclear_codes", cells.nested, _nested(cells)),
        ("other_names", cells.misnamed if hides else None, _OTHER_NAMES),
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
        said = f"{plural(number, 'total')} of published cells {'is' if number == 1 else 'are'} not in the table"
        yield (
            TableProblem(MISSING_TOTALS, number, f"{said} and {'was' if number == 1 else 'were'} not checked."),
            missing,
        )


def _unclear() -> str:
    return _UNCLEAR.format(spelled("total", "column=value"), spelled("total", "column="))


def _nested(cells: TableCells) -> str:
    name = next((one.name for one in cells.dimensions if one.nested), "column")
    return _NESTED.format(spelled("hierarchies", f"{name}=codes"), spelled("total", f"{name}="))


def _of(number: int, said: str) -> str:
    return f"{plural(number, 'cell')} {said if number > 1 else said.replace('have ', 'has ', 1)}"


def _repeated(cells: TableCells) -> Bools:
    ordered = np.sort(cells.numbers)
    if not bool((ordered[1:] == ordered[:-1]).any()):  # as a rule, and much cheaper to see than which cells they are
        return np.zeros(len(cells), dtype=np.bool_)
    _, place, counts = np.unique(cells.numbers, return_inverse=True, return_counts=True)
    found: Bools = counts[place.reshape(-1)] > 1
    return found


# A published table with further cells hidden, so that totals do not give back the unsafe ones.

_SHARE = Fraction(1, 10)
"""How far apart the limits of the sum of an unsafe cell are at least, as a share of it, where nothing else says it."""


def _level(cells: TableCells, values: Integers, rules: Sequence[CellRule]) -> Integers:
    """The highest level that a rule asks of each cell, 0 where none does."""
    found = np.zeros_like(values)
    for rule in rules:
        if (asked := rule.level(cells)) is not None:
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
        return np.full_like(values, max([1, *((rule.fewest or 1) - 1 for rule in rules)]))
    return np.maximum(1, -(-values * _SHARE.numerator // _SHARE.denominator))


_TOTALS = "Total", "All", "Overall", "_total"
"""Labels of a total of rows, unless a value is called so: the words that an audit takes for totals."""
_AUDITED = 1.0
"""What is written is audited for at least so many seconds, whatever the search took."""


def protect_cells(
    cells: TableCells, unsafe: Bools, rules: Sequence[CellRule], request: AggregatesRequest
) -> tuple[CellProtection, Bools]:
    """Hide the unsafe cells, and at a low cost others, so that nobody can compute what is hidden; and which are hidden.

    Args:
        cells: with all their numbers. unsafe: those that rules find. rules: that were asked for: they say how open is
            enough. request: what a cell costs, and how long it may take.

    Raises:
        UsageError: some cells have no number, or totals are wrong. MissingDriver: HiGHS is not installed.
    """
    added = _complete(cells)
    end = end_of(request.time_limit)
    hidden, found = unsafe.copy(), list[Protected]()
    costs = added.with_missing(_costs(cells, request.price), 0)
    for name, one in released(cells):
        left = seconds_left(end)
        given = _hiding(added, cells, name, one, unsafe, rules, request.zeros)
        already = added.with_missing(hidden, True)
        found.append(hide(replace(given, costs=np.where(already, 0, costs)), exact=not request.fast, seconds=left))
        hidden |= found[-1].hidden[: len(cells)]
    protection = CellProtection(
        unsafe=int(unsafe.sum()),
        further=int((hidden & ~unsafe).sum()),
        cost=sum(one.cost for one in found),
        bound=max((one.bound for one in found), default=0),
        open=len({int(cell) for one in found for cell in one.open}),
        safe=all(one.safe for one in found),
        contributors=all(_alone(cells, name) is not None for name, _ in released(cells)),
        stopped=next((one.stopped for one in found if one.stopped), ""),
    )
    return protection, hidden


def round_cells(
    cells: TableCells, unsafe: Bools, rules: Sequence[CellRule], request: AggregatesRequest, base: int
) -> tuple[CellProtection, dict[str, Integers]]:
    """Round every cell to a multiple of a base, so that totals still add up; see how open this leaves unsafe cells.

    The values of the cells, in units of each measure, come with it.

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
        given = _hiding(added, cells, name, one, unsafe, rules, "hidden")
        if bool(equations.residuals(given.values).any()):
            raise UsageError(
                "The table cannot be protected, because its cells do not add up. Correct the totals first."
            )
        step = base * 10**one.places
        found = round_together(equations, given.values, step, seconds=seconds_left(end))
        if found is None:
            raise UsageError(
                f"No rounding to multiples of {base} that adds up was found in time. Raise {spelled('time_limit')}."
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
    unprotected = int(narrow.sum())
    return CellProtection(
        int(unsafe.sum()), 0, moved, bound, unprotected, not unprotected, stopped, rounded_to=base
    ), values


def _complete(cells: TableCells) -> AddedUp:
    """The equations of a table of which everything is known.

    Raises:
        UsageError: a cell has several rows, or no number.
    """
    added = added_up(cells)
    if added is None:
        raise UsageError("The table cannot be protected, because a cell has several rows. Give every cell one row.")
    if cells.unclear is not None and bool(cells.unclear.any()):
        raise UsageError(f"{_of(int(cells.unclear.sum()), _unclear())}.")
    if cells.nested is not None and bool(cells.nested.any()):
        raise UsageError(f"{_of(int(cells.nested.sum()), _nested(cells))}.")
    if in_circle(facets_of(cells)):
        raise UsageError(
            "The tables cannot be protected, because they are margins of a table that is missing. Add the table that "
            "combines them."
        )
    if bool(cells.hidden.any()):
        raise UsageError("Hidden cells cannot be protected. Give the table before any cell was hidden.")
    return added


def released(cells: TableCells) -> list[tuple[str, CellMeasure]]:
    """What a protected table says of each cell: its count and its value; of a table that is made here, how many."""
    found = list(measures_of(cells))
    return [("count", cells.contributors)] if not found and cells.contributors is not None else found


def _hiding(
    added: AddedUp,
    cells: TableCells,
    name: str,
    one: CellMeasure,
    unsafe: Bools,
    rules: Sequence[CellRule],
    zeros: str | None,
) -> Hiding:
    """What is asked for one measure.

    Sums that a rule on contributions finds unsafe have the protection levels of the Handbook on Statistical Disclosure
    Control: their limits are below and above the true value by as much as lets the rule hold. Others, and what
    `no_unpickable_cell` asks, have a width.

    Args:
        cells: with all their numbers. name, one: of the measure, `count` or `value`. unsafe: cells that rules find.
        rules: that were asked for. zeros: whether counts of 0 are `shown` or `hidden`, None = shown.
    """
    values = as_integers(one)
    if values is None or bool((values < 0).any()):
        raise UsageError(
            f"The column of {spelled(name)} has negative numbers, or numbers too large to be added up exactly."
        )
    sliding, below, above = np.where(unsafe, _width(name, one, values, rules), 0), None, None
    if name == "value":
        level = np.where(unsafe, _level(cells, values, rules), 0)
        below, above = added.with_missing(np.minimum(level, values), 0), added.with_missing(level, 0)
        if not any(rule.of_hidden for rule in rules):
            sliding = np.where(level > 0, 0, sliding)
    upper, lower = np.full_like(values, FREE), np.zeros_like(values)
    if cells.structural is not None:
        upper[cells.structural] = 0
    if name == "count" and zeros != "hidden" and not bool((unsafe & (values == 0) | (values > upper)).any()):
        lower[values > 0], upper[values == 0] = 1, 0  # cells of nobody are published, or have no row
    every, _, _ = added.summed(values, one.known)
    alone = _alone(cells, name)
    return Hiding(
        added.equations,
        every,
        added.with_missing(unsafe, False),
        Protection(added.with_missing(sliding, 0), every, below, above),
        every,
        added.with_missing(lower, 0),
        added.with_missing(upper, FREE),
        name == "count",
        None if alone is None else added.with_missing(alone, False),
        np.concatenate([cells.keys, added.missing]).astype(np.int64),
    )


def _alone(cells: TableCells, name: str) -> Bools | None:
    """Return the cells of one contributor or holding, who knows their number; None where nothing tells which these are.

    A person who is counted knows that they are, but not that nobody else is.
    """
    counted = name == "count" and (cells.contributors is cells.count or cells.count is None)
    found = [one for one in (None if counted else cells.contributors, cells.holdings) if one is not None]
    return np.logical_or.reduce([one.known & (one.units == 1) for one in found]).astype(np.bool_) if found else None


def _costs(cells: TableCells, price: CellPrice) -> Integers:
    """What hiding each cell costs, at least 1."""
    measure = {CellPrice.COUNT: cells.contributors, CellPrice.VALUE: cells.value, CellPrice.ONE: None}[price]
    units = None if measure is None else as_integers(measure)
    if measure is not None and units is not None:
        return np.asarray(np.maximum(1, units // 10**measure.places), dtype=np.int64)
    if price is not CellPrice.ONE:
        raise UsageError(f"{spelled('price', str(price))} needs a column: name it with {spelled(str(price))}.")
    return np.ones(len(cells), dtype=np.int64)


def rows_of(
    cells: TableCells,
    hidden: Bools,
    labels: Mapping[tuple[int, int], str],
    instead: Mapping[str, Integers],
    *,
    all_is_total: bool,
) -> Iterator[list[tuple[str | int | float | None, ...]]]:
    """The rows of the protected table, some thousand at a time: what they are broken down by, then each measure.

    Args:
        cells: the table. hidden: cells that get no number. labels: of codes, by (dimension, code).
        instead: other values for each measure. all_is_total: whether the first code stands for all values, and is to be
            called so.
    """
    columns: list[Iterable[str | int | float | None]] = []
    for place, codes in enumerate(cells.keys.T.tolist()):
        used = {label.strip().casefold() for (at, _), label in labels.items() if at == place}
        total = next((word for word in _TOTALS if word.casefold() not in used), None) if all_is_total else None
        own = {code: labels.get((place, code)) for code in codes}
        columns.append([total if code == ALL and all_is_total else own[code] for code in codes])
    for name, one in released(cells):
        units = instead.get(name, one.units).tolist()
        numbers = [unit / 10**one.places for unit in units] if one.places else units
        columns.append(None if gone else number for number, gone in zip(numbers, hidden.tolist(), strict=True))
    rows = zip(*columns, strict=True)
    while batch := list(islice(rows, 10_000)):
        yield batch
