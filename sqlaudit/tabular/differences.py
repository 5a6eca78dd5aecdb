"""Two releases of a table beside each other: what their difference says of those who came, left or changed."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status
from sqlaudit.base.solver import minus
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.writing import files_named
from sqlaudit.tabular.cells import NO_PARENT, Bools, Breakdown, CellMeasure, TableCells, alike
from sqlaudit.tabular.hidden import ANY_WIDTH, find_pinned, read_through
from sqlaudit.tabular.listing import ListedCells, listed_cells, named_places, read_together
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import ReleaseDifference, RuleFound
from sqlaudit.tabular.secondary.system import Integers
from sqlaudit.tabular.structure import read_cells, stated_totals, structured
from sqlaudit.tabular.totals import broken_totals, is_noisy

MOST_PAIRS = 1_000_000
"""So many pairs of cells are looked at; with more, nothing passes."""


@dataclass(frozen=True, eq=False)
class RenamedCells:
    """The changes of cells if values were the same by another name: each cell of a gone value with each of a new one.

    Args:
        cells: the absolute differences of their numbers. older, newer: the number of each in its release.
    """

    cells: TableCells
    older: Integers
    newer: Integers

    def concerned(self, which: Integers) -> int:
        """How many cells of both releases some of the pairs are about."""
        return len(np.unique(self.older[which])) + len(np.unique(self.newer[which]))


def renamed(older: TableCells, newer: TableCells, places: Sequence[int]) -> RenamedCells | None:
    """What changed if values of some dimensions had another name in the newer release; None of too many pairs.

    Args:
        older, newer: with the same codes. places: of the dimensions whose values are names.
    """
    pairs = []
    left = MOST_PAIRS
    for place in places:
        found = _pairs(older, newer, place, left)
        if found is None:
            return None
        pairs.append(found)
        left -= len(found[0])
    nothing = np.zeros(0, dtype=np.int64)
    old, new = (np.concatenate([nothing, *(pair[side] for pair in pairs)]) for side in (0, 1))
    given = [
        _apart(_picked(getattr(older, name), old), _picked(getattr(newer, name), new))
        for name in ("count", "contributors", "value")
    ]
    count, contributors, value = given
    who = who_changed(contributors, value)
    cells = TableCells(unconnected(newer.dimensions), newer.keys[new], count, who, value)
    changed = np.logical_or.reduce([(one.units != 0) & one.known for one in given if one is not None]).astype(np.bool_)
    return RenamedCells(cells.some(changed), old[changed], new[changed])


def _pairs(older: TableCells, newer: TableCells, place: int, most: int) -> tuple[Integers, Integers] | None:
    """The cells of values that only the older one has, with those of the newer one that may be the same."""
    before, after = (np.unique(one.keys[:, place]) for one in (older, newer))
    gone, come = np.setdiff1d(before, after), np.setdiff1d(after, before)
    old, new = (np.flatnonzero(np.isin(one.keys[:, place], codes)) for one, codes in ((older, gone), (newer, come)))
    others = [at for at in range(len(older.dimensions)) if at != place]
    group, other = older.packed(older.keys[old], others), older.packed(newer.keys[new], others)
    order = np.argsort(other, kind="stable")
    first, last = (np.searchsorted(other[order], group, side=side) for side in ("left", "right"))
    times = last - first
    if int(times.sum()) > most:
        return None
    steps = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(old, times), new[order[np.repeat(first, times) + steps]]


def _picked(one: CellMeasure | None, cells: Integers) -> CellMeasure | None:
    """A measure of some cells, which may be there several times."""
    return None if one is None else CellMeasure(one.units[cells], one.known[cells], one.places)


def _apart(older: CellMeasure | None, newer: CellMeasure | None) -> CellMeasure | None:
    """How far two measures of the same cells are apart."""
    if older is None or newer is None:
        return None
    before, after = alike((older, newer))
    units = np.abs(minus(after.units, before.units))
    return CellMeasure(units, (before.known & after.known).astype(np.bool_), before.places)


def who_changed(contributors: CellMeasure | None, value: CellMeasure | None) -> CellMeasure | None:
    """How many came or left; nobody knows it where as many came as left, and the value is another one."""
    if contributors is None or value is None:
        return contributors
    known = contributors.known & ((contributors.units != 0) | (value.units == 0))
    return replace(contributors, known=known.astype(np.bool_))


def unconnected(dimensions: Sequence[Breakdown]) -> tuple[Breakdown, ...]:
    """The dimensions without totals: differences of absolute values do not add up."""
    return tuple(Breakdown(one.name, np.full(one.size, NO_PARENT, dtype=np.int32)) for one in dimensions)


def with_codes_of_both(
    tables: Sequence[TableCells], labels: Sequence[Mapping[tuple[int, int], str]]
) -> Iterator[TableCells]:
    """Releases whose codes were made apart, with the same codes for the same texts.

    Args:
        labels: of the codes of each, by (dimension, code).
    """
    width = range(len(tables[0].dimensions))
    codes: list[dict[str | int, int]] = [{} for _ in width]
    keys = []
    for cells, named in zip(tables, labels, strict=True):
        own = cells.keys.copy()
        for place in width:
            for code in np.unique(cells.keys[:, place]).tolist():
                text = named.get((place, code), code)  # a missing value, or all values: the code is its own name
                number = codes[place].setdefault(text, len(codes[place]))
                own[cells.keys[:, place] == code, place] = number
        keys.append(own)
    dimensions = tuple(
        Breakdown(one.name, np.full(len(some), NO_PARENT, dtype=np.int32))
        for one, some in zip(tables[0].dimensions, codes, strict=True)
    )
    for cells, own in zip(tables, keys, strict=True):
        yield TableCells(dimensions, own, cells.count, cells.contributors, cells.value)


Places = npt.NDArray[np.int64]
Labels = Mapping[tuple[int, int], str]

_UNLIKE = "Fewer than half of the cells are in both tables: compare tables whose values are spelled alike."
_TWICE = "A cell has several rows in one of the tables, so that its change is not known: give every cell one row."
_UNCLEAR = "Cells of one of the tables may be totals, from which hidden cells follow: name them with {}."
_OPEN = "It is not known whether published cells of one of the tables give its hidden ones away."
_WRONG = "Totals of one of the tables are not the sums of its cells, so that rows may have been left out of it."
_NOISY = "One of the tables has noise in its numbers, so that what changed is not known."
_OTHER_NAMES = (
    "Values that only one of the tables has may be the same by another name, and then too few changed: spell them "
    "alike, or compare tables with the same values."
)


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
    alone = [_labelled_cells(engine, one, request) for one in releases]
    for older, newer in combinations(range(len(releases)), 2):
        listed = listed_cells(engine, releases[newer], request, top, before=releases[older])
        cells = read_cells(engine, listed, request)
        tables, labels = zip(*(alone[one] for one in (older, newer)), strict=True)
        before, after = with_codes_of_both(tables, labels)
        yield TableChange(older, newer, listed, cells, "", renamed(before, after, named_places(listed)))


def _labelled_cells(engine: Engine, release: Relation, request: AggregatesRequest) -> tuple[TableCells, Labels]:
    """The cells that a reader of one release sees, with the values of its codes."""
    listed = listed_cells(engine, release, request)
    cells = read_cells(engine, listed, request)
    return cells, listed.labels(engine, [np.unique(column).tolist() for column in cells.keys.T])


def _of_tables(engine: Engine, releases: Sequence[Relation], request: AggregatesRequest) -> Iterator[TableChange]:
    asked = replace(request, largest=(), structural="")
    tables = [listed_cells(engine, one, asked) for one in releases]
    listed = read_together(engine, tables)
    cells = read_cells(engine, listed, asked)
    assert cells.release is not None
    stated = stated_totals(engine, listed, cells, asked)
    apart = [cells.some(cells.release == number) for number in range(len(tables))]
    found = [structured(one, stated.within(one)) for one in apart]
    doubts = [_doubt(one) for one in found]
    names = sorted({place for one in tables for place in named_places(one)})
    for older, newer in combinations(range(len(tables)), 2):
        doubt = doubts[older] or doubts[newer]
        before, after = (found[one] if doubt else read_through(found[one]) for one in (older, newer))
        doubt = doubt or ("" if _are_alike(before, after) else _UNLIKE)
        yield TableChange(older, newer, listed, difference(before, after), doubt, renamed(before, after, names))


def _doubt(cells: TableCells) -> str:
    """Why changes of this table's cells may be known to readers and not here."""
    if len(np.unique(cells.numbers)) < len(cells):
        return _TWICE
    if is_noisy(cells):
        return _NOISY
    if bool(broken_totals(cells, noisy=False).any()):
        return _WRONG
    hides = bool(cells.hidden.any())
    unclear = cells.unclear if hides else cells.rolled_up
    if unclear is not None and bool(unclear.any()):
        return _UNCLEAR.format(spelled("total", "column=value"))
    if not hides:
        return ""
    found = find_pinned(cells, ANY_WIDTH)
    return _OPEN if bool((cells.hidden & ~found.judged & ~found.unsafe).any()) else ""


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
    places = [np.searchsorted(numbers, one.numbers) for one in (older, newer)]
    keys = np.zeros((len(numbers), older.keys.shape[1]), dtype=np.int32)
    sides = list(zip((older, newer), places, strict=True))
    for one, place in sides:
        keys[place] = one.keys
    count, contributors, value = (
        _apart(*(_spread(getattr(one, name), place, len(numbers)) for one, place in sides))
        for name in ("count", "contributors", "value")
    )
    both = TableCells(unconnected(older.dimensions), keys, count, who_changed(contributors, value), value)
    return both.some(both.hidden | np.logical_or.reduce([one.units != 0 for one in both.published]))


def _spread(one: CellMeasure | None, place: Places, cells: int) -> CellMeasure | None:
    """The measure over all cells: 0 and known where the table has no such cell."""
    if one is None:
        return None
    units = np.zeros(cells, dtype=one.units.dtype)
    known: Bools = np.ones(cells, dtype=np.bool_)
    units[place], known[place] = one.units, one.known
    return CellMeasure(units, known, one.places)


def each_release(engine: Engine, before: Sequence[Target], newest: Target | Relation) -> list[Target]:
    """The older releases one by one: those of a pattern in the order of their names, without the newest itself.

    A folder, and a pattern that is the name of a table or file, is one release.

    Args:
        before: as they were named. newest: what they are compared with, which may lie beside them.

    Raises:
        UsageError: a pattern names no release but the newest.
    """
    own = set(files_named(newest.relation)) if isinstance(newest, Target) and newest.relation else set()
    found: list[Target] = []
    for target in before:
        paths = _files(engine, target)
        if paths is None:
            found.append(target)
            continue
        older = [path for path in paths if path not in own]
        if not older:
            raise UsageError(f"{spelled('before')}: no file but the newest release fits the pattern {target.name!r}.")
        found += (replace(target, relation=str(path), label=path.name) for path in older)
    return found


def _files(engine: Engine, target: Target) -> list[Path] | None:
    """The files of a pattern; None of anything else, and of a pattern that no file fits, which opening it says."""
    text = target.relation
    if not text or not glob.has_magic(text):
        return None
    if any(text in (name, f"{schema}.{name}") for schema, name in engine.catalog_tables() or ()):
        return None
    paths = files_named(text)
    return paths if paths and not any(path.name == Path(text).name for path in paths) else None
