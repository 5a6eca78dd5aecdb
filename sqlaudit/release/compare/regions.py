"""The possible classes of an original row, and whether the release is a generalization of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.hierarchies.defaults import with_defaults
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.profiles.names import contents_of
from sqlaudit.release.compare.coding import (
    CodedPair,
    Covered,
    code_rows,
    measured_cells,
    read_columns,
    read_cover,
    read_sensitive,
)
from sqlaudit.release.compare.pairing import Bench, Side, alike, find_pairing
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import Answer, ColumnFit, Generalization, Recoding

# How many original rows lie in the region of each class, and whether that says which class a row went to.

MOST_PAIRS = 40_000_000
"""Classes beside the tuples in their region, at most; beyond, regions stay unknown."""
_STEP = "regions of classes"


@dataclass(frozen=True)
class Regions:
    """The regions of all classes.

    Args:
        classes: key, g1, g2, …, n, is_whole. tuples: key, v1, v2, …, n.
        inside: a, c: tuples inside classes that are not suppressed. places: key, n, a: the tuples' numbers in `inside`.
        table: key, n, is_whole, region: original rows in the region of each class.
        disjoint: no original tuple lies in two classes.
    """

    classes: Relation
    tuples: Relation
    inside: Relation
    places: Relation
    table: Relation
    disjoint: bool


@dataclass(frozen=True)
class OpenedTables:
    """Original and release on the workbench, with what their cells stand for.

    Args:
        original, release: where they lie. by: how their rows are paired. coded: both as numbers. covered: the cells.
        classes: as `find_classes` makes them. regions: None when they are not known.
        generalization: whether it is one. changed_values: for each column the rows whose cell is another value.
        pairs: original rows beside their classes, None when it is not known which they are.
    """

    bench: Bench
    original: Side
    release: Side
    by: str
    coded: CodedPair
    covered: tuple[Covered, ...]
    classes: Relation
    regions: Regions | None
    generalization: Generalization
    changed_values: tuple[int, ...]
    pairs: Relation | None

    @property
    def pairing(self) -> str:
        """Return how rows were brought together, `none` where counts leave a choice."""
        return "none" if self.pairs is None else self.by


def find_classes(bench: Bench, coded: CodedPair, covered: Sequence[Covered]) -> tuple[Relation, Relation]:
    """The different tuples of the original, and the classes of the release."""
    places = [covered_column.column.place for covered_column in covered]
    tuples, class_tuples = (
        bench.make(name, "compare/release_tuples", step, key=key, names=[f"{part}{p}" for p in places], source=source)
        for name, step, key, part, source in (
            ("tuples", "tuples of the original", "q", "v", coded.original),
            ("class_tuples", "classes of the release", "c", "g", coded.release),
        )
    )
    step, cells = "classes of the release", [covered_column.cells for covered_column in covered]
    classes = bench.make(
        "classes", "compare/release_classes", step, classes=class_tuples, places=places, all_cells=cells
    )
    bench.forget("class_tuples")
    return tuples, classes


def find_regions(
    bench: Bench, coded: CodedPair, covered: Sequence[Covered], tuples: Relation, classes: Relation
) -> Regions | None:
    """The regions, or None when too many tuples lie in too many of them."""
    relations = {"covers": [covered_column.cover for covered_column in covered], "classes": classes}
    disjoint = not any(bench.ask("compare/release_overlaps", _STEP, **relations)[0])
    if disjoint:
        inside = bench.make("inside", "compare/release_homes", _STEP, tuples=tuples, **relations)
        places = bench.make("places", "compare/release_own_places", _STEP, tuples=tuples)
    else:
        joined = _join_by_prefixes(bench, covered, tuples, classes)
        if joined is None:
            return None
        inside, places = joined
        disjoint = not bench.ask("compare/release_shared", _STEP, inside=inside)[0][0]
    relations_by_name = {"classes": classes, "inside": inside, "places": places}
    table = bench.make("regions", "compare/release_regions", _STEP, rows=coded.rows, **relations_by_name)
    return Regions(classes, tuples, inside, places, table, disjoint)


def assigned(bench: Bench, coded: CodedPair, covered: Sequence[Covered], regions: Regions) -> Relation | None:
    """The original rows beside the classes that they must have gone to; None when counts leave a choice."""
    if not regions.disjoint:
        return None
    counts = bench.tell(
        "compare/release_determined",
        "pairs by counts",
        regions=regions.table,
        inside=regions.inside,
        places=regions.places,
    )
    left = coded.missing + int(counts["suppressed"])
    one_way = coded.missing == 0 or int(counts["suppressed_classes"]) == 0
    if counts["unequal"] or counts["suppressed_classes"] > 1 or not one_way or int(counts["outside"]) != left:
        return None
    return bench.make(
        "assigned",
        "compare/release_assigned",
        "rows with their classes",
        original=coded.original,
        placed=regions.places,
        inside=regions.inside,
        classes=regions.classes,
        places=[covered_column.column.place for covered_column in covered],
    )


def _join_by_prefixes(
    bench: Bench, covered: Sequence[Covered], tuples: Relation, classes: Relation
) -> tuple[Relation, Relation] | None:
    """(which tuples of atoms lie in which classes, the tuples with their atoms), None when these are too many.

    Tuples and classes are joined column by column, so that what cannot meet is dropped early and shared beginnings are
    looked at once.
    """
    numbers, atoms = [covered_column.column.place for covered_column in covered], []
    for position, covered_column in zip(numbers, covered, strict=True):
        relations = {
            "values": covered_column.column.words.relation,
            "cover": covered_column.cover,
            "classes": classes,
            "place": position,
        }
        atoms.append(bench.make(f"atoms_{position}", "compare/release_atoms", _STEP, **relations))
        bench.make(
            f"atom_cover_{position}", "compare/release_atom_cover", _STEP, cover=covered_column.cover, atoms=atoms[-1]
        )
    places = bench.make("places", "compare/release_atom_tuples", _STEP, tuples=tuples, all_atoms=atoms)
    sides = {"tuples": (places, "a", "a", ""), "classes": (classes, "key", "g", "NOT is_whole")}
    prefixes = {
        name: bench.make(
            f"prefix_{name}",
            "compare/release_prefix_start",
            _STEP,
            source=source,
            id=key,
            names=[f"{part}{position}" for position in numbers],
            condition=condition,
        )
        for name, (source, key, part, condition) in sides.items()
    }
    prefixes["pairs"] = bench.rows("prefix_pairs", [("class", "BIGINT"), ("tuple", "BIGINT")], [(0, 0)])
    shares = bench.ask(
        "compare/release_selectivity", _STEP, all_cells=[covered_column.cells for covered_column in covered]
    )[0]
    for position in sorted(
        numbers, key=lambda position: (float(shares[position - 1] or 0), position)
    ):  # what tells most first
        for name, (_, _, part, _) in sides.items():
            source_column = {"source": prefixes[name], "column": f"{part}{position}"}
            prefixes[name] = bench.make(f"prefix_{name}", "compare/release_prefixes", _STEP, **source_column)
        prefixes["pairs"] = bench.make(
            "prefix_pairs",
            "compare/release_prefix_pairs",
            _STEP,
            cover=bench.kept[f"atom_cover_{position}"],
            cell=f"g{position}",
            atom=f"a{position}",
            limit=MOST_PAIRS + 1,
            **prefixes,
        )
        if bench.size_of(prefixes["pairs"], _STEP) > MOST_PAIRS:
            return None
    inside = bench.make("inside", "compare/release_inside", _STEP, **prefixes)
    bench.forget("prefix_pairs", "prefix_tuples", "prefix_classes")
    return inside, places


# Is the release a generalization of the original (Thesis, Definition 2.3.4), and how were values recoded?
#
# It is one when released rows can be matched with different original rows, each value under its cell and sensitive
# values unchanged. With pairs every row is looked at. Without pairs it is enough, where no tuple lies in two classes,
# that no class holds more rows of a sensitive value than the original has in its region; where regions overlap, too
# many rows still refute it, but nothing short of a matching proves it.

_ROWS_A_STEP = "check of the generalization"


def check_generalization(
    bench: Bench, coded: CodedPair, covered: Sequence[Covered], classes: Relation, regions: Regions | None
) -> tuple[Generalization, tuple[int, ...]]:
    """The answer, and for each column the rows whose cell is another value than their own."""
    original, paired, misfits = coded.original, coded.paired, [(0, 0)] * len(covered)

    def number(template: str, **parameters: object) -> int:
        return bench.number(f"compare/release_{template}", _ROWS_A_STEP, **parameters)

    if paired:
        for index, covered_column in enumerate(covered):
            relations = {
                "source": original,
                "place": covered_column.column.place,
                "cover": covered_column.cover,
                "cells": covered_column.cells,
            }
            rows, of_values = bench.ask("compare/release_misfits", _ROWS_A_STEP, **relations)[0]
            misfits[index] = int(rows), int(of_values)
    both = zip(covered, misfits, strict=True)
    columns = tuple(_fit_of(bench, coded, classes, covered_column, rows) for covered_column, (rows, _) in both)
    changed = {
        attribute.label: number("changed", source=original, place=attribute.place)
        if paired
        else number("surplus", lanes=attribute.lanes)
        for attribute in coded.sensitive
    }
    too_many = 0 if paired else coded.foreign
    if regions is not None and not paired:  # the most that any count refutes
        parts = {"inside": regions.inside, "places": regions.places, "classes": classes}
        lanes = [("", ""), *((f"s{attribute.place}", f"z{attribute.place}") for attribute in coded.sensitive)]
        tables = {"original": original, "release": coded.release}
        too_many = max(
            too_many, *(number("crowded", own=value, other=lane, **tables, **parts) for value, lane in lanes)
        )
    misfit_rows = 0 if paired else None
    if any(rows for rows, _ in misfits):
        misfit_rows = number(
            "misfit_rows", source=original, covers=[covered_column.cover for covered_column in covered]
        )
    suppressed = number("suppressed", classes=classes)
    answer, reason = _answer(coded, regions, columns, misfit_rows, too_many, changed)
    counts = (misfit_rows, too_many, changed, coded.foreign, coded.missing, suppressed)
    recoding = _recoding_of(bench, covered, classes, columns, suppressed)
    return Generalization(answer, reason, columns, *counts, recoding), tuple(of_values for _, of_values in misfits)


def _fit_of(bench: Bench, coded: CodedPair, classes: Relation, covered_column: Covered, misfits: int) -> ColumnFit:
    """Return how one column was generalized. With paired rows, `misfits` are rows whose value is not under their
    cell."""
    rows = bench.ask("compare/release_fit", _ROWS_A_STEP, cells=covered_column.cells)
    cells, empty_cells, empty, off_levels = (sum(int(row[index]) for row in rows) for index in (2, 3, 4, 5))
    # values with several cells: by pairs, else values that lie in several cells
    how, of = ("split", {"source": coded.original}) if coded.paired else ("overlap", {"cover": covered_column.cover})
    position = covered_column.column.place
    split = bench.number(f"compare/release_{how}", _ROWS_A_STEP, classes=classes, place=position, **of)
    levels = tuple((int(level), int(number)) for level, number, *_ in rows)
    misfits, values = misfits if coded.paired else empty, covered_column.column.words.values
    label, hierarchy = covered_column.column.label, covered_column.column.words.hierarchy
    counts = (levels, cells, values, misfits, empty_cells, off_levels, split)
    return ColumnFit(label, hierarchy.height, *counts, hierarchy.by_default)


def _answer(
    coded: CodedPair,
    regions: Regions | None,
    columns: Sequence[ColumnFit],
    rows: int | None,
    too_many: int,
    changed: dict[str, int],
) -> tuple[Answer, str]:
    """Return whether the release is a generalization of the original, and why."""
    wrong = _wrong(coded, columns, rows, too_many, changed)
    if wrong:
        return Answer.NO, wrong
    if coded.paired:
        return Answer.YES, "every released row was compared with its original."
    several = len(coded.sensitive) > 1
    if regions is not None and regions.disjoint and not several:
        return Answer.YES, "no group has more rows than in the original, and no row fits two groups."
    overlap = "sensitive columns were checked one by one" if several else "original rows fit several groups"
    decides = f"Pair rows with {spelled('key')} or {spelled('by_position', True)} to decide it"
    return Answer.UNDECIDED, f"no row contradicts this, but {overlap}. {decides}."


def _recoding_of(
    bench: Bench, covered: Sequence[Covered], classes: Relation, columns: Sequence[ColumnFit], suppressed: int
) -> Recoding:
    """Return which kind of recoding made the cells."""
    levels = [
        bench.ask(
            "compare/release_kept_levels",
            _ROWS_A_STEP,
            classes=classes,
            cells=covered_column.cells,
            place=covered_column.column.place,
        )
        for covered_column in covered
    ]
    if any(column.split_values for column in columns):
        return Recoding.LOCAL
    if suppressed and not any(levels):  # nothing but rows whose cells may be anything: every column is at the top
        return Recoding.FULL_DOMAIN
    if all(level == 0 for rows in levels for level, _ in rows):
        return Recoding.NONE
    if all(len(rows) <= 1 and not any(odd for _, odd in rows) for rows in levels):
        return Recoding.FULL_DOMAIN
    return Recoding.GLOBAL


def _wrong(
    coded: CodedPair, columns: Sequence[ColumnFit], rows: int | None, too_many: int, changed: dict[str, int]
) -> str:
    """Return what refutes that the release is a generalization, as a sentence; empty when nothing does."""
    empty = ", ".join(column.name for column in columns if column.empty_cells)
    verb = "were changed" if coded.paired else "exceed the original's number of that value"
    moved = "; ".join(f"{count:,} values of {name} {verb}" for name, count in changed.items() if count)
    foreign = "released rows have no original row" if coded.paired else "rows more than the original"
    before = "" if coded.paired else "the release has "
    sentences = (
        (rows, f"{rows or 0:,} rows have a cell that does not contain their value."),
        (coded.foreign, f"{before}{coded.foreign:,} {foreign}."),
        (empty, f"{empty}: some cells stand for no value of the original."),
        (moved, f"{moved}."),
        (too_many, f"{too_many:,} released rows exceed the original rows in the region of their class."),
    )
    return next((sentence for holds, sentence in sentences if holds), "")


def open_tables(bench: Bench, request: CompareRequest, original: Side, release: Side) -> OpenedTables:
    """Reads both tables: values, cells, rows, regions, and which rows belong together."""
    original, release = alike(original, release, bench.engine.dialect)
    pairing = find_pairing(bench, request, original, release)
    hierarchies = read_hierarchies(request.hierarchies or {}).for_columns(request.qi)
    hierarchies = with_defaults(bench.engine, original.relation, original.columns, hierarchies, contents_of)
    columns = read_columns(bench, original, release, hierarchies)
    covers = [read_cover(bench, column) for column in columns]
    coded = code_rows(bench, pairing, original, release, columns, read_sensitive(bench, original, release))
    covered = measured_cells(bench, coded, covers)
    tuples, classes = find_classes(bench, coded, covered)
    regions = find_regions(bench, coded, covered, tuples, classes)
    generalization, changed_values = check_generalization(bench, coded, covered, classes, regions)
    pairs = coded.original if coded.paired else None
    if pairs is None and regions is not None and generalization.answer is not Answer.NO:
        pairs = assigned(bench, coded, covered, regions)
    opened = (bench, original, release, pairing, coded, covered, classes, regions)
    return OpenedTables(*opened, generalization, changed_values, pairs)
