"""Two releases of a table beside each other: what their difference says of those who came, left or changed."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Target
from sqlaudit.base.whole_arrays import minus
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.writing import files_named
from sqlaudit.tabular.cells import Bools, Breakdown, CellMeasure, TableCells, alike
from sqlaudit.tabular.hidden import ANY_WIDTH, find_pinned, read_through
from sqlaudit.tabular.listing import ListedCells, listed_cells, named_places, read_together
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import ReleaseDifference, RuleFound
from sqlaudit.tabular.secondary.system import Integers
from sqlaudit.tabular.structure import read_cells, stated_totals, structured
from sqlaudit.tabular.totals import broken_totals, is_noisy

_COMPARED = ("count", "contributors", "value")
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
    cells = _changes(older.some(old), newer.some(new))
    compared = [one for one in (cells.count, cells.contributors, cells.value) if one is not None]
    changed = np.logical_or.reduce([(one.units != 0) & one.known for one in compared]).astype(np.bool_)
    return RenamedCells(cells.some(changed), old[changed], new[changed])


def _changes(older: TableCells, newer: TableCells) -> TableCells:
    """How far the numbers of two tables are apart, cell by cell: row i of both is the same one."""
    count, contributors, value = (_apart(getattr(older, name), getattr(newer, name)) for name in _COMPARED)
    # differences of absolute values do not add up: there are no totals
    dimensions = tuple(Breakdown.plain(one.name, one.size) for one in newer.dimensions)
    return TableCells(dimensions, newer.keys, count, _who_changed(contributors, value), value)


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


def _apart(older: CellMeasure | None, newer: CellMeasure | None) -> CellMeasure | None:
    """How far two measures of the same cells are apart."""
    if older is None or newer is None:
        return None
    before, after = alike((older, newer))
    units = np.abs(minus(after.units, before.units))
    return CellMeasure(units, (before.known & after.known).astype(np.bool_), before.places)


def _who_changed(contributors: CellMeasure | None, value: CellMeasure | None) -> CellMeasure | None:
    """How many came or left; nobody knows it where as many came as left, and the value is another one."""
    if contributors is None or value is None:
        return contributors
    known = contributors.known & ((contributors.units != 0) | (value.units == 0))
    return replace(contributors, known=known.astype(np.bool_))


def with_codes_of_both(*tables: tuple[TableCells, Mapping[tuple[int, int], str]]) -> Iterator[TableCells]:
    """Releases whose codes were made apart, with the same codes for the same texts.

    Args:
        tables: each with the texts of its codes, by (dimension, code).
    """
    width = range(len(tables[0][0].dimensions))
    codes: list[dict[str | int, int]] = [{} for _ in width]
    keys = [cells.keys.copy() for cells, _ in tables]
    for own, (cells, labels) in zip(keys, tables, strict=True):
        for place in width:
            used, at = np.unique(cells.keys[:, place], return_inverse=True)
            texts = [labels.get((place, code), code) for code in used.tolist()]  # without a text: its own name
            numbers = [codes[place].setdefault(text, len(codes[place])) for text in texts]
            own[:, place] = np.array(numbers, dtype=np.int32)[at.reshape(-1)]
    dimensions = tuple(map(Breakdown.plain, tables[0][0].names, map(len, codes)))
    for own, (cells, _) in zip(keys, tables, strict=True):
        yield TableCells(dimensions, own, cells.count, cells.contributors, cells.value)


_UNLIKE = "Fewer than half of the cells are in both tables. Compare tables that spell their values the same way."
_TWICE = "A cell has several rows in one of the tables, so its change is unknown. Give every cell one row."
_UNCLEAR = "Cells of one of the tables may be totals that reveal hidden cells. Name totals with {}."
_OPEN = "Hidden cells of one of the tables could not be checked: published cells may reveal them."
_WRONG = "Totals of one of the tables are not the sums of its cells. Rows may be missing from it."
_NOISY = "One of the tables has noise in its numbers, so its changes are unknown."
_OTHER_NAMES = (
    "Values that only one of the tables has may be other spellings of the same values. Too few people would then have "
    "changed. Spell them the same way, or compare tables with the same values."
)


@dataclass(frozen=True, eq=False)
class TableChange:
    """The changes between two releases.

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
        raise UsageError(f"Rows of two releases are compared by person. Name the column with {spelled('person')}.")
    alone = []
    for one in releases:
        listed = listed_cells(engine, one, request)
        cells = read_cells(engine, listed, request)
        labels = listed.labels(engine, [np.unique(column).tolist() for column in cells.keys.T])
        alone.append((cells, labels))
    for older, newer in combinations(range(len(releases)), 2):
        listed = listed_cells(engine, releases[newer], request, top, before=releases[older])
        cells = read_cells(engine, listed, request)
        before, after = with_codes_of_both(alone[older], alone[newer])
        yield TableChange(older, newer, listed, cells, "", renamed(before, after, named_places(listed)))


def _of_tables(engine: Engine, releases: Sequence[Relation], request: AggregatesRequest) -> Iterator[TableChange]:
    asked = replace(request, largest=(), structural="", rate=())
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
        # with less than half the cells of the smaller table in both, values are rather spelled in another way
        shared = len(np.intersect1d(before.numbers, after.numbers))
        if 2 * shared < min(len(np.unique(one.numbers)) for one in (before, after)):
            doubt = doubt or _UNLIKE
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
    if any(one is not None and bool(one.any()) for one in (unclear, cells.nested)):
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
    rules, note = found.unsafe, change.doubt or _OTHER_NAMES
    if change.doubt == _NOISY:
        found = replace(found, unsafe_cells=0)
        rules = tuple(replace(one, status=Status.PASS, cells=0, keys=()) for one in rules)
    if change.doubt or change.renamed is None:
        return replace(found, unsafe=tuple(_doubtful(one, found.changed, note) for one in rules))
    concerned = [change.renamed.concerned(np.flatnonzero(one)) for one in if_renamed]
    both = zip(rules, concerned, strict=True)
    return replace(found, unsafe=tuple(_doubtful(one, number, note) if number else one for one, number in both))


def _doubtful(rule: RuleFound, cells: int, note: str) -> RuleFound:
    """A rule of which so many cells are undecided; it passes no more."""
    if rule.status is not Status.PASS:
        return rule
    undecided = min(cells, rule.judged)
    return replace(rule, status=Status.UNDETERMINED, undecided=undecided, judged=rule.judged - undecided, note=note)


def difference(older: TableCells, newer: TableCells) -> TableCells:
    """What changed from one table to another: cells with the absolute differences of their numbers.

    A cell that one of them does not have counts as 0 there. What is hidden in either is not known.
    """
    numbers = np.unique(np.concatenate([older.numbers, newer.numbers]))
    keys = np.zeros((len(numbers), older.keys.shape[1]), dtype=np.int32)
    sides = []
    for one in (older, newer):
        place = np.searchsorted(numbers, one.numbers)
        keys[place] = one.keys
        count, contributors, value = (_spread(getattr(one, name), place, len(numbers)) for name in _COMPARED)
        sides.append(TableCells(one.dimensions, keys, count, contributors, value))
    both = _changes(*sides)
    return both.some(both.hidden | np.logical_or.reduce([one.units != 0 for one in both.published]))


def _spread(one: CellMeasure | None, place: Integers, cells: int) -> CellMeasure | None:
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
            raise UsageError(
                f"{spelled('before')}: the pattern {target.name!r} matches no file except the newest release."
            )
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
