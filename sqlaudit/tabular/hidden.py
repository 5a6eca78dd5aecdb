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
from sqlaudit.tabular.cells import Bools, CellMeasure, TableCells, as_integers, measures_of, once_per_table
from sqlaudit.tabular.result import CellInterval, RoundedMeasure
from sqlaudit.tabular.secondary.intervals import CellVerdicts, Deduced, Protection, Prover, deduce, judge
from sqlaudit.tabular.secondary.system import FREE, Contradiction, Integers, PublishedTable, rounding_base, unrounded
from sqlaudit.tabular.totals import AddedUp, added_up, missed_sums

_EXACT = "smaller numbers: give them in thousands or millions"
_NOISY = "numbers without noise"
_CIRCLE = "fewer linked tables: the table that combines them all has too many cells"
_SUMS = "totals that are the sums of their parts"
_LIMITS = "limits that fit the totals: state those of a mark ({}), or that hidden counts may be 0 ({})"
ANY_WIDTH = Fraction(1, 10**18)
"""Limits that are less apart are equal."""
SECONDS = 60.0
"""How long programs may take for the intervals of one table."""
_MOST_ROUNDED, _ROUNDED_SECONDS = 5_000, 10.0
"""Cells of a rounded table, and seconds, up to which it is tried whether totals undo the rounding."""
_MOST_PROVEN = 200
"""Longer sums of published cells are no proof that somebody reads."""


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """The cells of one measure that are not published, with what can be deduced of them.

    Args:
        measure: `count` or `value`. cells: how many the table has. table: as an attacker sees it, with totals that are
            not published as further hidden cells behind its own. places: decimal places of its units.
        deduced: of its hidden cells; None where that could not be found out. missing: why not.
        loose: whether limits may be nearer than those that were found.
        promised: for each cell how far apart its mark says that the limits are; None without marks.
    """

    measure: str
    cells: int
    table: PublishedTable
    places: int
    deduced: Deduced | None
    missing: str = ""
    loose: bool = False
    promised: Integers | None = None

    def judge(self, width: Fraction) -> tuple[Bools, Bools]:
        """Which cells have limits nearer than a width, and of which cells that is known: of all published ones."""
        unsafe = np.zeros(len(self.table.hidden), dtype=np.bool_)
        judged = ~self.table.hidden
        verdicts = self._verdicts(width)
        if self.deduced is not None and verdicts is not None:
            unsafe[self.deduced.cells[verdicts.unsafe]] = True
            judged[self.deduced.cells[verdicts.unsafe if self.loose else ~verdicts.undecided]] = True
        return unsafe[: self.cells], judged[: self.cells]

    @property
    def known_cells(self) -> tuple[Integers, Integers]:
        """Hidden cells of the table that published ones give away, with what they are."""
        nothing = np.zeros(0, dtype=np.int64)
        if self.deduced is None:
            return nothing, nothing
        low, scale = self.deduced.low, self.deduced.scale
        found = self.deduced.known & (low % scale == 0) & (self.deduced.cells < self.cells)
        return self.deduced.cells[found], low[found] // scale

    def _verdicts(self, width: Fraction) -> CellVerdicts | None:
        if self.deduced is None:
            return None
        needed = np.full(len(self.table.hidden), ceil(width * 10**self.places), dtype=np.int64)
        if self.promised is not None:
            needed[: self.cells] = np.minimum(needed[: self.cells], self.promised)
        return judge(self.deduced, Protection(needed))

    def intervals(self, width: Fraction, most: int) -> Iterator[tuple[int, CellInterval]]:
        """Hidden cells with their limits, the narrowest first."""
        found, verdicts = self.deduced, self._verdicts(width)
        if found is None or verdicts is None:
            return
        unit = found.scale * 10**self.places
        free = (found.low <= -FREE) | (found.high >= FREE)
        order = np.argsort(np.where(free, FREE, found.high - found.low), kind="stable")
        for place in order[found.cells[order] < self.cells][:most].tolist():
            narrow = bool(verdicts.unsafe[place])
            unsafe = None if verdicts.undecided[place] or (self.loose and not narrow) else narrow
            ends = (int(found.low[place]), int(found.high[place]))
            low, high = (None if abs(end) >= FREE else _plain(Fraction(end, unit)) for end in ends)
            cell = int(found.cells[place])
            yield cell, CellInterval(self.measure, low, high, _plain(width), unsafe)

    def proof(self, cell: int) -> tuple[tuple[int, int], ...]:
        """Published cells, each with how often it is added, that give a known cell; none where no short sum does."""
        found = self._prover.prove(cell)
        if found is None or not found.exact or found.times != 1 or len(found.published) > _MOST_PROVEN:
            return ()
        return found.published

    def given_away(self, one: CellMeasure) -> CellMeasure:
        """The measure with the hidden numbers that follow from published ones: readers have these, too."""
        cells, given = self.known_cells
        units, known = one.units.copy(), one.known.copy()
        units[cells], known[cells] = given, True
        return replace(one, units=units, known=known)

    @cached_property
    def _prover(self) -> Prover:
        return Prover(self.table)


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def published_elsewhere(
    cells: TableCells, width: Fraction, most: int
) -> Iterator[tuple[int, CellInterval, tuple[tuple[int, int], ...]]]:
    """Cells that one table hides and a linked one publishes: nothing has to be added to know them."""
    for name, one in measures_of(cells):
        for cell in np.flatnonzero(one.hidden & one.known)[:most].tolist():
            value = _plain(Fraction(int(one.units[cell]), 10**one.places))
            yield cell, CellInterval(name, value, value, _plain(width), width > 0), ((cell, 1),)


@once_per_table
def hidden_cells(cells: TableCells) -> tuple[HiddenCells, ...]:
    """What can be deduced of the hidden cells of each measure that has some."""
    added, missed = added_up(cells), missed_sums(cells)
    if added is None:
        return ()
    return tuple(
        _of_measure(name, one, added, cells.left_out, noisy=name in missed and missed[name].noisy)
        for name, one in measures_of(cells)
        if not bool(one.known.all())
    )


@once_per_table
def read_through(cells: TableCells) -> TableCells:
    """The cells as somebody has them who subtracts: hidden numbers that follow from others are published."""
    given = {one.measure: one for one in hidden_cells(cells)}
    count, value = (
        one and replace(given[name].given_away(one) if name in given else one, elsewhere=None)
        for name, one in (("count", cells.count), ("value", cells.value))
    )
    contributors = count if cells.contributors is cells.count else cells.contributors
    return replace(cells, count=count, value=value, contributors=contributors)


def find_pinned(cells: TableCells, width: Fraction) -> Verdicts:
    """Hidden cells that published ones leave less than a width, where that is decided, and what was missing."""
    unsafe = np.zeros(len(cells), dtype=np.bool_)
    judged = np.full(len(cells), added_up(cells) is not None)
    missing = "" if added_up(cells) is not None else "one row for each cell and more of the totals"
    for one in hidden_cells(cells):
        narrow, known = one.judge(width)
        unsafe |= narrow
        judged &= known
        missing = one.missing or missing
    if width > 0:
        for measure in cells.published:
            unsafe |= measure.hidden & measure.known  # another table tells it
    missing = missing or "more time, or the solver HiGHS: pip install 'sqlaudit[remedies]'"
    return Verdicts(unsafe, judged | unsafe, missing)


def _of_measure(name: str, one: CellMeasure, added: AddedUp, left_out: Bools | None, *, noisy: bool) -> HiddenCells:
    units, cells, limits = as_integers(one), added.cells, one.limits
    hidden = added.with_missing(~one.known, True)
    safe = added.with_missing(np.zeros(cells, dtype=np.int64) if units is None else units, 0)
    lower = np.full(len(hidden), -FREE if bool((safe < 0).any()) else 0, dtype=np.int64)
    upper = np.full_like(lower, FREE)
    if limits is not None:
        lower[:cells], upper[:cells] = np.maximum(lower[:cells], limits.lower), limits.upper
    # a row that is left out may have nobody in it, unlike one with a mark
    marked = added.with_missing(~one.known if left_out is None else ~one.known & ~left_out, False)
    above = np.where(marked, np.maximum(lower, limits.least), lower) if limits and limits.least else lower
    found, missing = None, _EXACT if units is None else _NOISY if noisy else _CIRCLE if added.loose else ""
    table = PublishedTable(added.equations, safe, hidden, above, upper, whole=name == "count")
    try:
        if units is not None and not noisy:
            try:
                found = deduce(table, seconds=SECONDS, asked=cells)
            except Contradiction:
                if limits is None or limits.stated or not limits.least:
                    raise
                table = replace(table, lower=lower)  # some hidden counts are 0, although others are published
                found = deduce(table, seconds=SECONDS, asked=cells)
    except Contradiction:
        limited = bool(((table.lower > 0) | (upper < FREE))[hidden].any())
        missing = _LIMITS.format(spelled("hidden", "*=1..4"), spelled("zeros", "hidden")) if limited else _SUMS
    except UsageError:  # too large
        missing = _EXACT
    promised = None if limits is None else limits.promised
    return HiddenCells(name, cells, table, one.places, found, missing, added.loose, promised)


def rounded(cells: TableCells) -> Iterator[RoundedMeasure]:
    """Measures all of whose published values are multiples of a base, with how many cells totals give back exactly."""
    for name, one in measures_of(cells):
        units = as_integers(one)
        base = None if units is None else rounding_base(units[one.known])
        if units is None or base is None or bool((units < 0).any()):
            continue
        given = _given_back(added_up(cells), units, one.known, base.base, name == "count")
        yield RoundedMeasure(name, _plain(Fraction(base.base, 10**one.places)), given)


def _given_back(added: AddedUp | None, units: Integers, known: Bools, base: int, whole: bool) -> int | None:
    """Cells whose value before rounding is certain, whatever rounded it; None where that was not found out."""
    if added is None or len(units) > _MOST_ROUNDED:
        return None
    known = added.with_missing(known, False)
    before = unrounded(added.equations, added.with_missing(units, 0), base)
    lower, upper = np.where(known, before.lower, 0), np.where(known, before.upper, FREE)
    try:
        found = deduce(replace(before, lower=lower, upper=upper, whole=whole), seconds=_ROUNDED_SECONDS)
    except UsageError:  # rounded in another way, or not at all
        return None
    return None if found.unfinished else int(found.known[found.cells < added.cells].sum())


def only_small_ones(cells: TableCells) -> bool:
    """Whether hidden counts that totals give back are all smaller than every published one but zero."""
    for one in hidden_cells(cells):
        _, hidden = one.known_cells
        if one.measure == "count" and len(hidden):
            shown = one.table.values[~one.table.hidden]
            return bool(hidden.max() < shown[shown > 0].min(initial=FREE))
    return False


def hidden_with_contributions(cells: TableCells, rule: CellRule) -> Bools:
    """Hidden sums of which all the contributions are given that a rule looks at."""
    value = read_through(cells).value
    top = cells.top(rule.contributions) if rule.contributions else None
    if value is None or top is None or cells.volume is not None:  # an upper limit of a sum with losses is none of sizes
        return np.zeros(len(cells), dtype=np.bool_)
    some: Bools = ~value.known & top.known
    return some


def judged_at_limits(cells: TableCells, rule: CellRule) -> tuple[Bools, Bools]:
    """Which of these are not open enough, and of which that is decided.

    A proven upper limit that is too low is unsafe; one that occurs in a table that fits, and is high enough, is safe.
    """
    asked = hidden_with_contributions(cells, rule)
    unsafe, judged = np.zeros_like(asked), np.zeros_like(asked)
    found = next((one.deduced for one in hidden_cells(cells) if one.measure == "value" and not one.loose), None)
    if found is None or not bool(asked.any()):
        return unsafe, judged
    own = np.flatnonzero(found.cells < len(cells))
    at = found.cells[own]
    unsafe[at] = _falls_short(cells, rule, at, found.high[own], found.scale)
    free = found.high[own] >= FREE
    reached = np.where(free, FREE, np.minimum(found.most[own], found.high[own]))
    judged[at] = ~_falls_short(cells, rule, at, reached, found.scale)
    return unsafe & asked, (judged | unsafe) & asked


def _falls_short(cells: TableCells, rule: CellRule, at: Integers, limits: Integers, scale: int) -> Bools:
    """What a rule says of some cells, if limits in parts of a unit were their values."""
    assert cells.value is not None
    which = np.zeros(len(cells), dtype=np.bool_)
    which[at] = True
    some = cells.some(which)
    order = np.argsort(at, kind="stable")
    value = CellMeasure(limits[order], np.ones(len(at), dtype=np.bool_), cells.value.places)
    largest = tuple(replace(one, units=times(one.units, scale)) for one in some.largest)
    verdicts = rule.verdicts(replace(some, value=value, largest=largest))
    found = np.zeros(len(at), dtype=np.bool_)
    found[order] = verdicts.unsafe & (limits[order] < FREE)
    return found
