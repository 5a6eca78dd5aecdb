"""What published cells and totals of a table reveal about its hidden cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.whole_arrays import times
from sqlaudit.models.cell_rules import CellRule, Verdicts
from sqlaudit.tabular.cells import Bools, CellMeasure, TableCells, as_integers, cache_per_table, published_measures
from sqlaudit.tabular.result import CellInterval, RoundedMeasure
from sqlaudit.tabular.secondary.intervals import CellVerdicts, DeducedLimits, Protection, Prover, deduce, judge
from sqlaudit.tabular.secondary.system import (
    FREE,
    Contradiction,
    Integers,
    PublishedTable,
    find_rounding_base,
    undo_rounding,
)
from sqlaudit.tabular.totals import CompletedTable, complete_table, find_sum_errors

_EXACT = "smaller numbers: give them in thousands or millions"
_NOISY = "numbers without noise"
_CIRCLE = "fewer linked tables: the table that combines them all has too many cells"
_SUMS = "totals that are the sums of their parts"
_LIMITS = "limits that fit the totals: state those of a mark ({}), or that hidden counts may be 0 ({})"
ANY_WIDTH = Fraction(1, 10**18)
"""Limits that are closer than this are equal."""
SECONDS = 60.0
"""Time limit of the solver for the intervals of one table."""
_MOST_ROUNDED, _ROUNDED_SECONDS = 5_000, 10.0
"""Limits of the search for cells whose rounding totals undo: cells of the table, and seconds."""
_MOST_PROVEN = 200
"""Largest number of published cells in a proof; no one reads a longer sum."""


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """The cells of one measure that are not published, with what can be deduced of them.

    Args:
        measure: `count` or `value`.
        cells: number of cells of the table.
        table: the table as an attacker sees it, with totals that are not published as further hidden cells after its
            own.
        places: number of decimal places of its units.
        deduced: the limits of its hidden cells; None where they could not be found.
        missing: what was missing to find them.
        loose: True if limits may be narrower than those that were found.
        promised: for each cell the distance of the limits that its mark states; None without marks.
    """

    measure: str
    cells: int
    table: PublishedTable
    places: int
    deduced: DeducedLimits | None
    missing: str = ""
    loose: bool = False
    promised: Integers | None = None

    def judge(self, width: Fraction) -> tuple[Bools, Bools]:
        """Return which cells have limits closer than a width, and for which cells that is decided."""
        is_unsafe = np.zeros(len(self.table.hidden), dtype=np.bool_)
        is_judged = ~self.table.hidden
        verdicts = self._verdicts(width)
        if self.deduced is not None and verdicts is not None:
            is_unsafe[self.deduced.cells[verdicts.unsafe]] = True
            is_judged[self.deduced.cells[verdicts.unsafe if self.loose else ~verdicts.undecided]] = True
        return is_unsafe[: self.cells], is_judged[: self.cells]

    @property
    def deduced_cells(self) -> tuple[Integers, Integers]:
        """Hidden cells whose number follows from published ones, with these numbers."""
        nothing = np.zeros(0, dtype=np.int64)
        if self.deduced is None:
            return nothing, nothing
        low, scale = self.deduced.low, self.deduced.scale
        is_deduced = self.deduced.known & (low % scale == 0) & (self.deduced.cells < self.cells)
        return self.deduced.cells[is_deduced], low[is_deduced] // scale

    def _verdicts(self, width: Fraction) -> CellVerdicts | None:
        if self.deduced is None:
            return None
        needed = np.full(len(self.table.hidden), ceil(width * 10**self.places), dtype=np.int64)
        if self.promised is not None:
            needed[: self.cells] = np.minimum(needed[: self.cells], self.promised)
        return judge(self.deduced, Protection(needed))

    def intervals(self, width: Fraction, most: int) -> Iterator[tuple[int, CellInterval]]:
        """Yield hidden cells with their limits, the narrowest first.

        Args:
            width: the required distance between the limits.
            most: how many cells at most.
        """
        deduced, verdicts = self.deduced, self._verdicts(width)
        if deduced is None or verdicts is None:
            return
        unit = deduced.scale * 10**self.places
        is_unlimited = (deduced.low <= -FREE) | (deduced.high >= FREE)
        order = np.argsort(np.where(is_unlimited, FREE, deduced.high - deduced.low), kind="stable")
        for index in order[deduced.cells[order] < self.cells][:most].tolist():
            narrow = bool(verdicts.unsafe[index])
            unsafe = None if verdicts.undecided[index] or (self.loose and not narrow) else narrow
            ends = (int(deduced.low[index]), int(deduced.high[index]))
            low, high = (None if abs(end) >= FREE else _to_number(Fraction(end, unit)) for end in ends)
            cell = int(deduced.cells[index])
            yield cell, CellInterval(self.measure, low, high, _to_number(width), unsafe)

    def proof(self, cell: int) -> tuple[tuple[int, int], ...]:
        """Return published cells, each with how often it is added, whose sum is a known cell; empty without a proof."""
        proof = self._prover.prove(cell)
        if proof is None or not proof.exact or proof.times != 1 or len(proof.published) > _MOST_PROVEN:
            return ()
        return proof.published

    def with_deduced(self, measure: CellMeasure) -> CellMeasure:
        """Return the measure with the hidden numbers that follow from published ones: readers have these, too."""
        cells, values = self.deduced_cells
        units, is_known = measure.units.copy(), measure.known.copy()
        units[cells], is_known[cells] = values, True
        return replace(measure, units=units, known=is_known)

    @cached_property
    def _prover(self) -> Prover:
        return Prover(self.table)


def _to_number(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def find_published_elsewhere(
    cells: TableCells, width: Fraction, most: int
) -> Iterator[tuple[int, CellInterval, tuple[tuple[int, int], ...]]]:
    """Yield cells that one table hides and a linked one publishes: nothing has to be added up to know them."""
    for name, measure in published_measures(cells):
        for cell in np.flatnonzero(measure.hidden & measure.known)[:most].tolist():
            value = _to_number(Fraction(int(measure.units[cell]), 10**measure.places))
            yield cell, CellInterval(name, value, value, _to_number(width), width > 0), ((cell, 1),)


@cache_per_table
def deduce_hidden_cells(cells: TableCells) -> tuple[HiddenCells, ...]:
    """Return the limits of the hidden cells of each measure that has some."""
    completed, errors = complete_table(cells), find_sum_errors(cells)
    if completed is None:
        return ()
    return tuple(
        _deduce_measure(name, measure, completed, cells.left_out, noisy=name in errors and errors[name].is_noisy)
        for name, measure in published_measures(cells)
        if not bool(measure.known.all())
    )


@cache_per_table
def with_deduced_numbers(cells: TableCells) -> TableCells:
    """Return the cells as a reader has them who subtracts: hidden numbers that follow from others are published."""
    by_measure = {hidden.measure: hidden for hidden in deduce_hidden_cells(cells)}
    count, value = (
        measure and replace(by_measure[name].with_deduced(measure) if name in by_measure else measure, elsewhere=None)
        for name, measure in (("count", cells.count), ("value", cells.value))
    )
    contributors = count if cells.contributors is cells.count else cells.contributors
    return replace(cells, count=count, value=value, contributors=contributors)


def find_narrow_cells(cells: TableCells, width: Fraction) -> Verdicts:
    """Return the hidden cells whose limits are closer than a width, where that is decided, and what was missing."""
    is_unsafe = np.zeros(len(cells), dtype=np.bool_)
    is_judged = np.full(len(cells), complete_table(cells) is not None)
    missing = "" if complete_table(cells) is not None else "one row for each cell and more of the totals"
    for hidden in deduce_hidden_cells(cells):
        narrow, is_decided = hidden.judge(width)
        is_unsafe |= narrow
        is_judged &= is_decided
        missing = hidden.missing or missing
    if width > 0:
        for measure in cells.published:
            is_unsafe |= measure.hidden & measure.known  # another table publishes it
    missing = missing or "more time, or the solver HiGHS: pip install 'sqlaudit[remedies]'"
    return Verdicts(is_unsafe, is_judged | is_unsafe, missing)


def _deduce_measure(
    name: str, measure: CellMeasure, completed: CompletedTable, left_out: Bools | None, *, noisy: bool
) -> HiddenCells:
    """Return the limits of the hidden cells of one measure.

    Args:
        name: `count` or `value`.
        measure: its numbers.
        completed: the table with its equations.
        left_out: hidden cells that have no row; None without any.
        noisy: True if noise was added: then nothing can be deduced.
    """
    units, cells, limits = as_integers(measure), completed.cells, measure.limits
    hidden = completed.with_missing(~measure.known, True)
    safe = completed.with_missing(np.zeros(cells, dtype=np.int64) if units is None else units, 0)
    lower = np.full(len(hidden), -FREE if bool((safe < 0).any()) else 0, dtype=np.int64)
    upper = np.full_like(lower, FREE)
    if limits is not None:
        lower[:cells], upper[:cells] = np.maximum(lower[:cells], limits.lower), limits.upper
    # a row that is left out may have no one in it, unlike one with a mark
    marked = completed.with_missing(~measure.known if left_out is None else ~measure.known & ~left_out, False)
    above = np.where(marked, np.maximum(lower, limits.least), lower) if limits and limits.least else lower
    deduced, missing = None, _EXACT if units is None else _NOISY if noisy else _CIRCLE if completed.loose else ""
    table = PublishedTable(completed.equations, safe, hidden, above, upper, whole=name == "count")
    try:
        if units is not None and not noisy:
            try:
                deduced = deduce(table, seconds=SECONDS, searched=cells)
            except Contradiction:
                if limits is None or limits.stated or not limits.least:
                    raise
                table = replace(table, lower=lower)  # some hidden counts are 0, although others are published
                deduced = deduce(table, seconds=SECONDS, searched=cells)
    except Contradiction:
        limited = bool(((table.lower > 0) | (upper < FREE))[hidden].any())
        missing = _LIMITS.format(spelled("hidden", "*=1..4"), spelled("zeros", "hidden")) if limited else _SUMS
    except UsageError:  # too large
        missing = _EXACT
    promised = None if limits is None else limits.promised
    return HiddenCells(name, cells, table, measure.places, deduced, missing, completed.loose, promised)


def find_rounded_measures(cells: TableCells) -> Iterator[RoundedMeasure]:
    """Yield measures whose published values are all multiples of a base, with the number of cells that totals give."""
    for name, measure in published_measures(cells):
        units = as_integers(measure)
        base = None if units is None else find_rounding_base(units[measure.known])
        if units is None or base is None or bool((units < 0).any()):
            continue
        deducible = _count_deducible(complete_table(cells), units, measure.known, base.base, name == "count")
        yield RoundedMeasure(name, _to_number(Fraction(base.base, 10**measure.places)), deducible)


def _count_deducible(
    completed: CompletedTable | None, units: Integers, is_known: Bools, base: int, is_count: bool
) -> int | None:
    """Return the number of cells whose value before rounding is certain; None where that could not be found.

    Args:
        completed: the table with its equations; None of one that has none.
        units: the rounded numbers.
        is_known: where they are published.
        base: of the rounding, in units.
        is_count: True if only whole numbers are possible.
    """
    if completed is None or len(units) > _MOST_ROUNDED:
        return None
    is_known = completed.with_missing(is_known, False)
    before = undo_rounding(completed.equations, completed.with_missing(units, 0), base)
    lower, upper = np.where(is_known, before.lower, 0), np.where(is_known, before.upper, FREE)
    try:
        deduced = deduce(replace(before, lower=lower, upper=upper, whole=is_count), seconds=_ROUNDED_SECONDS)
    except UsageError:  # rounded in another way, or not at all
        return None
    return None if deduced.unfinished else int(deduced.known[deduced.cells < completed.cells].sum())


def has_only_small_counts_hidden(cells: TableCells) -> bool:
    """Return True if hidden counts that totals reveal are all smaller than every published one but zero."""
    for measure_cells in deduce_hidden_cells(cells):
        _, hidden = measure_cells.deduced_cells
        if measure_cells.measure == "count" and len(hidden):
            published = measure_cells.table.values[~measure_cells.table.hidden]
            return bool(hidden.max() < published[published > 0].min(initial=FREE))
    return False


def find_hidden_with_contributions(cells: TableCells, rule: CellRule) -> Bools:
    """Return the hidden sums whose contributions are known, as many as a rule reads."""
    value = with_deduced_numbers(cells).value
    top = cells.top(rule.contributions) if rule.contributions else None
    if value is None or top is None or cells.volume is not None:  # with losses, a sum limits no absolute value
        return np.zeros(len(cells), dtype=np.bool_)
    has_contributions: Bools = ~value.known & top.known
    return has_contributions


def judge_at_limits(cells: TableCells, rule: CellRule) -> tuple[Bools, Bools]:
    """Return which hidden sums with known contributions are unsafe by their limits, and for which that is decided.

    An upper limit that is proven and too low is unsafe. One that occurs in a possible table, and is high enough, is
    safe.
    """
    has_contributions = find_hidden_with_contributions(cells, rule)
    is_unsafe, is_judged = np.zeros_like(has_contributions), np.zeros_like(has_contributions)
    deduced = next(
        (hidden.deduced for hidden in deduce_hidden_cells(cells) if hidden.measure == "value" and not hidden.loose),
        None,
    )
    if deduced is None or not bool(has_contributions.any()):
        return is_unsafe, is_judged
    table_rows = np.flatnonzero(deduced.cells < len(cells))
    at = deduced.cells[table_rows]
    is_unsafe[at] = _fails_at_limits(cells, rule, at, deduced.high[table_rows], deduced.scale)
    is_unlimited = deduced.high[table_rows] >= FREE
    reached = np.where(is_unlimited, FREE, np.minimum(deduced.most[table_rows], deduced.high[table_rows]))
    is_judged[at] = ~_fails_at_limits(cells, rule, at, reached, deduced.scale)
    return is_unsafe & has_contributions, (is_judged | is_unsafe) & has_contributions


def _fails_at_limits(cells: TableCells, rule: CellRule, at: Integers, limits: Integers, scale: int) -> Bools:
    """Return True for cells that fail a rule if their upper limits were their values.

    Args:
        at: the cells.
        limits: their upper limits, in parts of a unit.
        scale: parts of a unit.
    """
    assert cells.value is not None
    which = np.zeros(len(cells), dtype=np.bool_)
    which[at] = True
    selected = cells.select(which)
    order = np.argsort(at, kind="stable")
    value = CellMeasure(limits[order], np.ones(len(at), dtype=np.bool_), cells.value.places)
    largest = tuple(replace(contribution, units=times(contribution.units, scale)) for contribution in selected.largest)
    verdicts = rule.verdicts(replace(selected, value=value, largest=largest))
    is_unsafe = np.zeros(len(at), dtype=np.bool_)
    is_unsafe[order] = verdicts.unsafe & (limits[order] < FREE)
    return is_unsafe
