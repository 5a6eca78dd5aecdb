"""Two releases of a table beside each other: what their difference says of those who came, left or changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status
from sqlaudit.base.whole_arrays import Wholes, minus
from sqlaudit.base.words import spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.tabular.cells import Bools, CellMeasure, TableCells
from sqlaudit.tabular.listing import ListedCells, listed_cells, named_places
from sqlaudit.tabular.other_names import RenamedCells, renamed, unconnected, who_changed, with_codes_of_both
from sqlaudit.tabular.reading import read_cells
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import ReleaseDifference, RuleFound
from sqlaudit.tabular.structure import listed_levels, structured, total_words, words_within
from sqlaudit.tabular.together import read_together

Places = npt.NDArray[np.int64]
Labels = Mapping[tuple[int, int], str]


_UNLIKE = "Fewer than half of the cells are in both tables: compare tables whose values are spelled alike."
_TWICE = "A cell has several rows in one of the tables, so that its change is not known: give every cell one row."
_UNCLEAR = "Cells of one of the tables may be totals, from which hidden cells follow: name them with {}."
_OPEN = "It is not known whether published cells of one of the tables give its hidden ones away."
_NOISY = "One of the tables has noise in its numbers, so that what changed is not known."
_OTHER_NAMES = (
    "Values that only one of the tables has may be the same by another name, and then too few changed: spell them "
    "alike, or compare tables with the same values."
)
_ANY_WIDTH = Fraction(1, 10**18)
"""Limits that are less apart are equal."""


@dataclass(frozen=True, eq=False)
class TableChange:
    """What two releases tell beside each other.

    Args:
        before, after: their places. listed: where the cells are. cells: the changes. doubt: why nothing passes, else
            empty. renamed: what changed if values had other names before; None where nobody can say.
    """

    before: int
    after: int
    listed: ListedCells
    cells: TableCells
    doubt: str
    renamed: RenamedCells | None


def differences(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest, top: int
) -> Iterator[TableChange]:
    """What changed between every two releases, an older and a newer one.

    The contributors of such a cell are those who came, left or contribute something else; its value is the change. Of
    finished tables only the differences of their numbers are known; rows tell the persons.

    Raises:
        UsageError: unknown columns, or rows without a column of persons.
    """
    if request.microdata:
        yield from _of_rows(engine, releases, request, top)
    else:
        yield from _of_tables(engine, releases, request)


def _of_rows(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest, top: int
) -> Iterator[TableChange]:
    if not request.person:
        raise UsageError(f"Rows of two releases are compared by person: name their column with {spelled('person')}.")
    alone = [_made(engine, one, request) for one in releases]
    for older, newer in combinations(range(len(releases)), 2):
        listed = listed_cells(engine, releases[newer], request, top, before=releases[older])
        cells = read_cells(engine, listed, request)
        tables, labels = zip(*(alone[one] for one in (older, newer)), strict=True)
        before, after = with_codes_of_both(tables, labels, 1 if listed.flags else 0)
        yield TableChange(older, newer, listed, cells, "", renamed(before, after, named_places(listed)))


def _made(engine: Engine, release: Relation, request: AggregatesRequest) -> tuple[TableCells, Labels]:
    """The cells that a reader of one release sees, with the values of its codes."""
    listed = listed_cells(engine, release, request)
    cells = read_cells(engine, listed, request)
    codes = [np.unique(column - (1 if listed.flags else 0)).tolist() for column in cells.keys.T]
    return cells, listed.labels(engine, codes)


def _of_tables(engine: Engine, releases: Sequence[Relation], request: AggregatesRequest) -> Iterator[TableChange]:
    asked = replace(request, largest=(), structural="")
    tables = [listed_cells(engine, one, asked) for one in releases]
    listed = read_together(engine, tables)
    cells = read_cells(engine, listed, asked)
    assert cells.release is not None
    words = total_words(engine, listed, cells, asked.totals())
    levels, unlisted = listed_levels(engine, listed, cells, asked.hierarchies)
    apart = [cells.some(cells.release == number) for number in range(len(tables))]
    found = [structured(one, words_within(one, words), levels, unlisted, asked.stated()) for one in apart]
    doubts = [_doubt(one) for one in found]
    names = sorted({place for one in tables for place in named_places(one)})
    for older, newer in combinations(range(len(tables)), 2):
        doubt = doubts[older] or doubts[newer]
        before, after = (found[one] if doubt else found[one].read_through for one in (older, newer))
        doubt = doubt or ("" if _are_alike(before, after) else _UNLIKE)
        yield TableChange(older, newer, listed, difference(before, after), doubt, renamed(before, after, names))


def _doubt(cells: TableCells) -> str:
    """Why changes of this table's cells may be known to readers and not here."""
    if len(np.unique(cells.numbers)) < len(cells):
        return _TWICE
    if cells.is_noisy:
        return _NOISY
    if not bool(cells.hidden.any()):
        return ""
    if cells.unclear is not None and bool(cells.unclear.any()):
        return _UNCLEAR.format(spelled("total", "column=value"))
    unsafe, judged, _ = cells.pinned(_ANY_WIDTH)
    return _OPEN if bool((cells.hidden & ~judged & ~unsafe).any()) else ""


def judged_change(found: ReleaseDifference, change: TableChange, if_renamed: Sequence[Bools]) -> ReleaseDifference:
    """The verdicts on a change, of which none passes where there is a doubt.

    Args:
        found: verdicts on the cells. change: what they are of. if_renamed: for each rule, the pairs of cells that would
            not be safe if their values were the same.
    """
    if change.doubt == _NOISY:
        rules = (replace(one, status=Status.PASS, cells=0, keys=()) for one in found.unsafe)
        undecided = tuple(_doubtful(one, found.changed, change.doubt) for one in rules)
        return replace(found, unsafe_cells=0, unsafe=undecided)
    if change.doubt:
        return replace(found, unsafe=tuple(_doubtful(one, found.changed, change.doubt) for one in found.unsafe))
    if change.renamed is None:
        return replace(found, unsafe=tuple(_doubtful(one, found.changed, _OTHER_NAMES) for one in found.unsafe))
    concerned = [change.renamed.concerned(np.flatnonzero(one)) for one in if_renamed]
    both = zip(found.unsafe, concerned, strict=True)
    return replace(found, unsafe=tuple(_doubtful(one, number, _OTHER_NAMES) if number else one for one, number in both))


def _doubtful(rule: RuleFound, cells: int, note: str) -> RuleFound:
    """A rule of which so many cells are undecided; it passes no more."""
    if rule.status is not Status.PASS:
        return rule
    undecided = min(cells, rule.judged)
    return replace(rule, status=Status.UNDETERMINED, undecided=undecided, judged=rule.judged - undecided, note=note)


def _are_alike(older: TableCells, newer: TableCells) -> bool:
    """Whether half the cells of the smaller table are in the other: else values are rather spelled in another way."""
    shared = len(np.intersect1d(older.numbers, newer.numbers))
    return 2 * shared >= min(len(np.unique(one.numbers)) for one in (older, newer))


def difference(older: TableCells, newer: TableCells) -> TableCells:
    """What changed from one table to another: cells with the absolute differences of their numbers.

    A cell that one of them does not have counts as 0 there. What is hidden in either is not known.
    """
    numbers = np.unique(np.concatenate([older.numbers, newer.numbers]))
    places = [_places(numbers, one.numbers) for one in (older, newer)]
    keys = np.zeros((len(numbers), older.keys.shape[1]), dtype=np.int32)
    for one, place in zip((older, newer), places, strict=True):
        keys[place] = one.keys
    count, contributors, value = (
        _changed(getattr(older, name), getattr(newer, name), places, len(numbers))
        for name in ("count", "contributors", "value")
    )
    both = TableCells(unconnected(older.dimensions), keys, count, who_changed(contributors, value), value)
    return both.some(both.hidden | np.logical_or.reduce([one.units != 0 for one in both.published]))


def _places(numbers: Wholes, own: Wholes) -> Places:
    return np.asarray(np.searchsorted(numbers, own), dtype=np.int64)


def _changed(
    older: CellMeasure | None, newer: CellMeasure | None, places: Sequence[Places], cells: int
) -> CellMeasure | None:
    if older is None or newer is None:
        return None
    before, after = (_spread(one, place, cells) for one, place in zip((older, newer), places, strict=True))
    units = np.abs(minus(after.units, before.units))
    return CellMeasure(units, before.known & after.known, older.places)


def _spread(one: CellMeasure, place: Places, cells: int) -> CellMeasure:
    """The measure over all cells: 0 and known where the table has no such cell."""
    units = np.zeros(cells, dtype=one.units.dtype)
    known: Bools = np.ones(cells, dtype=np.bool_)
    units[place], known[place] = one.units, one.known
    return CellMeasure(units, known, one.places)
