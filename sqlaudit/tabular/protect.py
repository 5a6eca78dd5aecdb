"""Mistakes of a published table itself, and the search for further cells to hide so that totals reveal none."""

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
from sqlaudit.tabular.cells import Bools, CellMeasure, Codes, TableCells, as_integers, published_measures
from sqlaudit.tabular.request import AggregatesRequest, CellPrice
from sqlaudit.tabular.result import LEFT_OUT, MISSING_TOTALS, CellProtection, TableProblem
from sqlaudit.tabular.secondary.intervals import Protection, deadline_after, deduce, judge, seconds_left
from sqlaudit.tabular.secondary.protecting import HidingProblem, HidingSolution, hide
from sqlaudit.tabular.secondary.system import FREE, Integers, PublishedTable, round_together
from sqlaudit.tabular.structure import ALL
from sqlaudit.tabular.totals import (
    CompletedTable,
    complete_table,
    find_broken_totals,
    find_facets,
    find_missing_totals,
    has_cycle,
)

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


def find_problems(cells: TableCells, *, totals_are_right: bool = False) -> Iterator[tuple[TableProblem, Codes]]:
    """Yield each mistake of a table with the keys of the cells that have it.

    Args:
        totals_are_right: True for a table that was made here.
    """
    hides = bool(cells.hidden.any())
    counts = [measure for measure in (cells.count, cells.contributors, cells.holdings) if measure is not None]
    negative = np.logical_or.reduce(
        [np.zeros(len(cells), np.bool_), *(measure.known & (measure.units < 0) for measure in counts)]
    )
    for code, which, description in (
        ("duplicate_cells", _find_repeated(cells), "have the same key as another cell. Give every cell one row"),
        ("negative_counts", negative, "have a negative count"),
        ("fractional_counts", cells.fractional, "have a count that is not a whole number"),
        ("unclear_totals", cells.unclear if hides else cells.rolled_up, _unclear_message()),
        ("unclear_codes", cells.nested, _nested_message(cells)),
        ("other_names", cells.misnamed if hides else None, _OTHER_NAMES),
        ("linked_numbers", cells.disagreeing, _DISAGREEING),
        (LEFT_OUT, cells.left_out, _LEFT_OUT),
        ("wrong_totals", None if totals_are_right else find_broken_totals(cells, noisy=False), _WRONG),
        ("noisy_totals", None if totals_are_right else find_broken_totals(cells, noisy=True), _NOISY),
    ):
        number = 0 if which is None else int(which.sum())
        if which is not None and number:
            yield TableProblem(code, number, f"{_with_number(number, description)}."), cells.keys[which]
    missing = cells.keys[:0] if totals_are_right else find_missing_totals(cells)
    if number := len(missing):
        subject = f"{plural(number, 'total')} of published cells {'is' if number == 1 else 'are'} not in the table"
        yield (
            TableProblem(MISSING_TOTALS, number, f"{subject} and {'was' if number == 1 else 'were'} not checked."),
            missing,
        )


def _unclear_message() -> str:
    """Return the message about cells that may be totals."""
    return _UNCLEAR.format(spelled("total", "column=value"), spelled("total", "column="))


def _nested_message(cells: TableCells) -> str:
    """Return the message about codes that may be totals of those that extend them."""
    name = next((dimension.name for dimension in cells.dimensions if dimension.nested), "column")
    return _NESTED.format(spelled("hierarchies", f"{name}=codes"), spelled("total", f"{name}="))


def _with_number(number: int, problem: str) -> str:
    """Return a problem with the number of its cells before it."""
    return f"{plural(number, 'cell')} {problem if number > 1 else problem.replace('have ', 'has ', 1)}"


def _find_repeated(cells: TableCells) -> Bools:
    """Return the cells whose key another cell has, too."""
    ordered = np.sort(cells.packed_keys)
    if not bool((ordered[1:] == ordered[:-1]).any()):  # the usual case, much cheaper than np.unique
        return np.zeros(len(cells), dtype=np.bool_)
    _, index, counts = np.unique(cells.packed_keys, return_inverse=True, return_counts=True)
    is_repeated: Bools = counts[index.reshape(-1)] > 1
    return is_repeated


_SHARE = Fraction(1, 10)
"""Least distance between the limits of an unsafe sum, as a share of it, where no rule states one."""


def _protection_levels(cells: TableCells, values: Integers, rules: Sequence[CellRule]) -> Integers:
    """Return the highest protection level that a rule requires of each cell, 0 where none does."""
    levels = np.zeros_like(values)
    for rule in rules:
        if (level := rule.level(cells)) is not None:
            units, is_known = level
            within = np.minimum(np.where(is_known, units, 0), FREE // 4)  # beyond any limit
            levels = np.maximum(levels, within.astype(np.int64))
    return levels


def _protection_widths(name: str, measure: CellMeasure, values: Integers, rules: Sequence[CellRule]) -> Integers:
    """Return the least distance between the limits of an unsafe cell, in units of the measure."""
    widths = [rule.width for rule in rules if rule.of_hidden]
    if widths:
        return np.full_like(values, max(1, ceil(max(widths) * 10**measure.places)))
    if name == "count":
        return np.full_like(values, max([1, *((rule.fewest or 1) - 1 for rule in rules)]))
    return np.maximum(1, -(-values * _SHARE.numerator // _SHARE.denominator))


_TOTALS = "Total", "All", "Overall", "_total"
"""Labels of a total of rows, the first that is not a value: words that an audit takes for totals."""
_AUDITED = 1.0
"""Least time, in seconds, for auditing the protected table, however long the search took."""


def protect_cells(
    cells: TableCells, unsafe: Bools, rules: Sequence[CellRule], request: AggregatesRequest
) -> tuple[CellProtection, Bools]:
    """Hide the unsafe cells, and others at a low cost, so that no one can compute what is hidden.

    Args:
        cells: with all their numbers.
        unsafe: those that rules find.
        rules: the rules for cells, which state how wide limits must be.
        request: the cost of a cell, and the time limit.

    Returns:
        The protection, and the cells that are hidden.

    Raises:
        UsageError: some cells have no number, or totals are wrong. MissingDriver: HiGHS is not installed.
    """
    completed = _complete_or_refuse(cells)
    end = deadline_after(request.time_limit)
    hidden, solutions = unsafe.copy(), list[HidingSolution]()
    costs = completed.with_missing(_costs(cells, request.price), 0)
    for name, measure in released_measures(cells):
        left = seconds_left(end)
        hiding = _build_hiding(completed, cells, name, measure, unsafe, rules, request.zeros)
        is_hidden_already = completed.with_missing(hidden, True)
        solutions.append(
            hide(replace(hiding, costs=np.where(is_hidden_already, 0, costs)), exact=not request.fast, seconds=left)
        )
        hidden |= solutions[-1].hidden[: len(cells)]
    protection = CellProtection(
        unsafe=int(unsafe.sum()),
        secondary=int((hidden & ~unsafe).sum()),
        cost=sum(solution.cost for solution in solutions),
        bound=max((solution.bound for solution in solutions), default=0),
        unprotected=len({int(cell) for solution in solutions for cell in solution.open}),
        safe=all(solution.safe for solution in solutions),
        contributors=all(_find_lone_contributors(cells, name) is not None for name, _ in released_measures(cells)),
        stopped=next((solution.stopped for solution in solutions if solution.stopped), ""),
    )
    return protection, hidden


def round_cells(
    cells: TableCells, unsafe: Bools, rules: Sequence[CellRule], request: AggregatesRequest, base: int
) -> tuple[CellProtection, dict[str, Integers]]:
    """Round every cell to a multiple of a base, so that totals still add up, and check how open unsafe cells are then.

    Args:
        cells, unsafe, rules, request: as for `protect_cells`.
        base: of rounding.

    Returns:
        The protection, and the values of the cells in units of each measure.

    Raises:
        UsageError: as for `protect_cells`; there is no such table, or none was found in time. MissingDriver: no HiGHS.
    """
    completed = _complete_or_refuse(cells)
    equations, end = completed.equations, deadline_after(request.time_limit)
    values, moved, bound, stopped = {}, 0, 0, ""
    narrow = np.zeros(len(cells), dtype=np.bool_)
    for name, measure in released_measures(cells):
        hiding = _build_hiding(completed, cells, name, measure, unsafe, rules, "hidden")
        if bool(equations.residuals(hiding.values).any()):
            raise UsageError(
                "The table cannot be protected, because its cells do not add up. Correct the totals first."
            )
        step = base * 10**measure.places
        rounding = round_together(equations, hiding.values, step, seconds=seconds_left(end))
        if rounding is None:
            raise UsageError(
                f"No rounding to multiples of {base} that adds up was found in time. Raise {spelled('time_limit')}."
            )
        values[name], moved, bound = rounding.values[: len(cells)], moved + rounding.moved, bound + rounding.bound
        stopped = rounding.stopped or stopped
        far = max(step - 1, rounding.farthest)  # known to everybody: no cell is moved farther
        table = PublishedTable(
            equations,
            rounding.values,
            np.ones(equations.cells, dtype=np.bool_),
            completed.with_missing(np.maximum(rounding.values - far, 0)[: len(cells)], 0),
            completed.with_missing((rounding.values + far)[: len(cells)], FREE),
            whole=hiding.whole,
        )
        verdicts = judge(deduce(table, seconds=seconds_left(end, _AUDITED)), hiding.protection)
        narrow |= (verdicts.unsafe | verdicts.undecided)[: len(cells)]
    unprotected = int(narrow.sum())
    return CellProtection(
        int(unsafe.sum()), 0, moved, bound, unprotected, not unprotected, stopped, rounded_to=base
    ), values


def _complete_or_refuse(cells: TableCells) -> CompletedTable:
    """Return a table with its equations, if all of it is known.

    Raises:
        UsageError: a cell has several rows, or no number.
    """
    completed = complete_table(cells)
    if completed is None:
        raise UsageError("The table cannot be protected, because a cell has several rows. Give every cell one row.")
    if cells.unclear is not None and bool(cells.unclear.any()):
        raise UsageError(f"{_with_number(int(cells.unclear.sum()), _unclear_message())}.")
    if cells.nested is not None and bool(cells.nested.any()):
        raise UsageError(f"{_with_number(int(cells.nested.sum()), _nested_message(cells))}.")
    if has_cycle(find_facets(cells)):
        raise UsageError(
            "The tables cannot be protected, because they are margins of a table that is missing. Add the table that "
            "combines them."
        )
    if bool(cells.hidden.any()):
        raise UsageError("Hidden cells cannot be protected. Give the table before any cell was hidden.")
    return completed


def released_measures(cells: TableCells) -> list[tuple[str, CellMeasure]]:
    """Return the measures of a protected table: its count and value, or the contributors of one that is made here."""
    measures = list(published_measures(cells))
    return [("count", cells.contributors)] if not measures and cells.contributors is not None else measures


def _build_hiding(
    completed: CompletedTable,
    cells: TableCells,
    name: str,
    measure: CellMeasure,
    unsafe: Bools,
    rules: Sequence[CellRule],
    zeros: str | None,
) -> HidingProblem:
    """Return the requirements for hiding cells of one measure.

    Sums that a rule on contributions finds unsafe have the protection levels of the Handbook on Statistical Disclosure
    Control: their limits are below and above the true value by as much as lets the rule pass. Others, and what
    `no_unpickable_cell` requires, have a width.

    Args:
        completed: the table with its equations.
        cells: with all their numbers.
        name: the measure, `count` or `value`.
        measure: its numbers.
        unsafe: cells that rules find.
        rules: the rules for cells.
        zeros: `shown` or `hidden`: counts of 0; None = shown.

    Raises:
        UsageError: negative numbers, or too large ones.
    """
    values = as_integers(measure)
    if values is None or bool((values < 0).any()):
        raise UsageError(
            f"The column of {spelled(name)} has negative numbers, or numbers too large to be added up exactly."
        )
    sliding, below, above = np.where(unsafe, _protection_widths(name, measure, values, rules), 0), None, None
    if name == "value":
        level = np.where(unsafe, _protection_levels(cells, values, rules), 0)
        below, above = completed.with_missing(np.minimum(level, values), 0), completed.with_missing(level, 0)
        if not any(rule.of_hidden for rule in rules):
            sliding = np.where(level > 0, 0, sliding)
    upper, lower = np.full_like(values, FREE), np.zeros_like(values)
    if cells.structural is not None:
        upper[cells.structural] = 0
    if name == "count" and zeros != "hidden" and not bool((unsafe & (values == 0) | (values > upper)).any()):
        lower[values > 0], upper[values == 0] = 1, 0  # empty cells are published, or have no row
    all_values, _, _ = completed.add_up(values, measure.known)
    is_lone = _find_lone_contributors(cells, name)
    return HidingProblem(
        completed.equations,
        all_values,
        completed.with_missing(unsafe, False),
        Protection(completed.with_missing(sliding, 0), all_values, below, above),
        all_values,
        completed.with_missing(lower, 0),
        completed.with_missing(upper, FREE),
        name == "count",
        None if is_lone is None else completed.with_missing(is_lone, False),
        np.concatenate([cells.keys, completed.missing]).astype(np.int64),
    )


def _find_lone_contributors(cells: TableCells, name: str) -> Bools | None:
    """Return the cells of one contributor or holding, who knows their number; None where no column shows these cells.

    A person who is counted knows that they are, but not that no one else is.
    """
    counts_contributors = name == "count" and (cells.contributors is cells.count or cells.count is None)
    counts = [
        count for count in (None if counts_contributors else cells.contributors, cells.holdings) if count is not None
    ]
    return (
        np.logical_or.reduce([count.known & (count.units == 1) for count in counts]).astype(np.bool_)
        if counts
        else None
    )


def _costs(cells: TableCells, price: CellPrice) -> Integers:
    """Return the cost of hiding each cell, at least 1.

    Raises:
        UsageError: the price needs a column that is not given.
    """
    measure = {CellPrice.COUNT: cells.contributors, CellPrice.VALUE: cells.value, CellPrice.ONE: None}[price]
    units = None if measure is None else as_integers(measure)
    if measure is not None and units is not None:
        return np.asarray(np.maximum(1, units // 10**measure.places), dtype=np.int64)
    if price is not CellPrice.ONE:
        raise UsageError(f"{spelled('price', str(price))} needs a column: name it with {spelled(str(price))}.")
    return np.ones(len(cells), dtype=np.int64)


def iter_rows(
    cells: TableCells,
    hidden: Bools,
    labels: Mapping[tuple[int, int], str],
    instead: Mapping[str, Integers],
    *,
    all_is_total: bool,
) -> Iterator[list[tuple[str | int | float | None, ...]]]:
    """Yield the rows of the protected table, some thousand at a time: the dimensions, then each measure.

    Args:
        cells: the table.
        hidden: cells that get no number.
        labels: of codes, by (axis, code).
        instead: other values for each measure.
        all_is_total: True if the first code stands for all values and gets the label of a total.
    """
    columns: list[Iterable[str | int | float | None]] = []
    for axis, codes in enumerate(cells.keys.T.tolist()):
        used = {label.strip().casefold() for (at, _), label in labels.items() if at == axis}
        total = next((word for word in _TOTALS if word.casefold() not in used), None) if all_is_total else None
        axis_labels = {code: labels.get((axis, code)) for code in codes}
        columns.append([total if code == ALL and all_is_total else axis_labels[code] for code in codes])
    for name, measure in released_measures(cells):
        units = instead.get(name, measure.units).tolist()
        numbers = [unit / 10**measure.places for unit in units] if measure.places else units
        columns.append(None if gone else number for number, gone in zip(numbers, hidden.tolist(), strict=True))
    rows = zip(*columns, strict=True)
    while batch := list(islice(rows, 10_000)):
        yield batch
