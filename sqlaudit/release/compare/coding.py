"""Original and release as numbers on the workbench: values, cells, what cells stand for, and distances."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Statement
from sqlaudit.base.sql import Raw
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.opening import MAX_VALUES_READ
from sqlaudit.hierarchies.cell_reader import reader_of
from sqlaudit.hierarchies.cells import Exact
from sqlaudit.hierarchies.dictionary import Dictionary, dictionary, membership
from sqlaudit.hierarchies.levels import Hierarchy
from sqlaudit.profiles.names import concept_of, words_of
from sqlaudit.release.compare.pairing import TRAVELS_AS, Bench, Side
from sqlaudit.release.compare.result import ColumnSpread

# Original and release as numbers on the workbench: dictionaries of values and cells, and rows counted by both.


@dataclass(frozen=True)
class PairedColumn:
    """One quasi-identifier in both tables.

    Args:
        label: what the user calls it. place: 1, 2, … in the order of `--qi`.
        original, release: the column of each table. words: values of the original with their labels.
        cells: a relation of the workbench: code (0 = NULL), t (the cell's text) and n (released rows).
    """

    label: str
    place: int
    original: Resolved
    release: Resolved
    words: Dictionary
    cells: Relation
    cell_count: int

    @property
    def kind(self) -> Kind:
        """Return what the original holds."""
        return self.words.holds.kind

    @property
    def numeric(self) -> bool:
        """Return True if widths of intervals have a meaning."""
        return self.kind in NUMBERS

    @property
    def height(self) -> int:
        """The top level; a column that is kept is suppressed at level 1 all the same."""
        return max(1, self.words.hierarchy.height)

    @property
    def levels(self) -> list[int]:
        """The numbers of its levels above the values."""
        return list(range(1, self.words.hierarchy.height + 1))

    @property
    def null_value(self) -> int:
        """The number of NULL among the values; -1 when there is none."""
        return self.words.values - 1 if self.words.missing_rows else -1


@dataclass(frozen=True)
class PairedAttribute:
    """One sensitive attribute in both tables; `lanes` is a relation: lane, v, t, total, released."""

    label: str
    place: int
    original: Resolved
    release: Resolved
    lanes: Relation
    table: SensitiveTable
    null_lane: int


@dataclass(frozen=True)
class CodedPair:
    """Both tables on the workbench.

    Args:
        original, release: relations with the columns of `release_coded.sql`; one and the same when rows are paired.
        rows, released: rows of the two tables. matched: released rows whose original is known, all without pairing.
    """

    columns: tuple[PairedColumn, ...]
    sensitive: tuple[PairedAttribute, ...]
    original: Relation
    release: Relation
    paired: bool
    rows: int
    released: int
    matched: int

    @property
    def missing(self) -> int:
        """Original rows that are not in the release."""
        return max(0, self.rows - self.matched)

    @property
    def foreign(self) -> int:
        """Released rows beyond those of the original: without an original row, or more than there are."""
        return self.released - self.matched if self.paired else max(0, self.released - self.rows)


def read_columns(
    bench: Bench, original: Side, release: Side, hierarchies: Sequence[Hierarchy]
) -> tuple[PairedColumn, ...]:
    """The dictionaries of all quasi-identifiers.

    Raises:
        UsageError: a hierarchy that does not fit the values of the original.
    """
    columns = []
    sides = zip(original.columns, release.columns, hierarchies, strict=True)
    for position, (original_column, released_column, hierarchy) in enumerate(sides, 1):
        words = dictionary(
            bench.engine,
            bench.workbench,
            original.relation,
            original_column,
            hierarchy,
            f"{bench.prefix}values_{position}",
        )
        bench.kept[f"values_{position}"] = words.relation
        statement, name = cells_statement(bench, release, released_column), f"cells_{position}"
        seen = bench.count(name + "_seen", statement, [("t", "VARCHAR"), ("n", "BIGINT")])
        cells = bench.make(name, "compare/release_cell_codes", f"cells of {released_column.label}", seen=seen)
        bench.forget(name + "_seen")
        count = bench.number("compare/release_largest", "cells", source=cells, column="code") + 1
        columns.append(PairedColumn(hierarchy.column, position, original_column, released_column, words, cells, count))
    return tuple(columns)


def cells_statement(bench: Bench, side: Side, column: Resolved) -> Statement:
    """The different cells of a released column, with their rows."""
    step = f"cells of {column.label}"
    return bench.over_tables("compare/release_texts", step, source=side.relation, column=column)


def read_sensitive(bench: Bench, original: Side, release: Side) -> tuple[PairedAttribute, ...]:
    """The sensitive values of both tables.

    Raises:
        UsageError: more values than are read.
    """
    attributes = []
    for position, (original_value, released_value) in enumerate(
        zip(original.sensitive, release.sensitive, strict=True), 1
    ):
        step, name = f"values of {original_value.label}", f"lanes_{position}"
        seen = [
            _count_values(bench, side, column, f"{name}_{which}")
            for side, column, which in ((original, original_value, "original"), (release, released_value, "release"))
        ]
        lanes = bench.make(name, "compare/release_lanes", step, original=seen[0], released=seen[1])
        bench.forget(f"{name}_original", f"{name}_release")
        rows = bench.ask("compare/release_lane_rows", step, lanes=lanes, limit=MAX_VALUES_READ + 1)
        if len(rows) > MAX_VALUES_READ:
            raise UsageError(
                f"{original_value.label} has more than {MAX_VALUES_READ:,} different values, the limit for a sensitive "
                "column. Round or group it first."
            )
        has_null = bool(rows) and rows[-1][1] is None
        values = tuple(row[0] if row[0] is not None else row[1] for row in rows)
        totals = tuple(int(row[2]) for row in rows)
        table = SensitiveTable(
            original_value.label,
            totals,
            has_null,
            original_value.kind.has_natural_order,
            original_value.collated,
            values,
        )
        null_lane = len(rows) - 1 if has_null else -1
        attributes.append(
            PairedAttribute(original_value.label, position, original_value, released_value, lanes, table, null_lane)
        )
    return tuple(attributes)


def _count_values(bench: Bench, side: Side, column: Resolved, name: str) -> Relation:
    travels_as = TRAVELS_AS.get(column.kind)
    statement = bench.over_tables(
        "compare/release_sensitive",
        f"values of {column.label}",
        source=side.relation,
        column=column,
        travels=bench.is_local or travels_as is not None,
    )
    return bench.count(name, statement, [("v", travels_as or "VARCHAR"), ("t", "VARCHAR"), ("n", "BIGINT")])


def code_rows(
    bench: Bench,
    pairing: str,
    original: Side,
    release: Side,
    columns: Sequence[PairedColumn],
    sensitive: Sequence[PairedAttribute],
) -> CodedPair:
    """Both tables as numbers, counted; paired by the keys of both unless by what the cells contain."""
    if pairing == "containment":
        original_rows, released_rows = (
            _coded(bench, f"coded_{side}", "release_side", part, columns, sensitive, side=side, source=table.relation)
            for side, part, table in (("original", "v", original), ("release", "g", release))
        )
        rows, released = (
            bench.number("compare/release_total", "rows", source=side_rows)
            for side_rows in (original_rows, released_rows)
        )
        sides = (original_rows, released_rows)
        return CodedPair(tuple(columns), tuple(sensitive), *sides, False, rows, released, released)
    both = _coded(
        bench,
        "coded",
        "release_pairs",
        "vg",
        columns,
        sensitive,
        keys=[
            {"original": key, "release": released_key}
            for key, released_key in zip(original.keys, release.keys, strict=True)
        ],
        original=original.relation,
        release=release.relation,
    )
    rows, released, matched = (
        int(x or 0) for x in bench.ask("compare/release_matched", "rows that match", coded=both)[0]
    )
    pairs = bench.make("both", "compare/release_originals", "rows with an original", coded=both)
    bench.forget("coded")
    return CodedPair(tuple(columns), tuple(sensitive), pairs, pairs, True, rows, released, matched)


def _coded(
    bench: Bench,
    name: str,
    template: str,
    parts: str,
    columns: Sequence[PairedColumn],
    sensitive: Sequence[PairedAttribute],
    **parameters: object,
) -> Relation:
    """Rows as numbers; `parts` has v for the original and g for the release."""
    local, texts = bench.is_local, [f"{part}{column.place}" for column in columns for part in parts]
    texts += [f"{'s' if part == 'v' else 'z'}{attribute.place}" for attribute in sensitive for part in parts]
    statement = bench.over_tables(
        f"compare/{template}",
        "rows",
        counted=not local,
        columns=[
            {"original": column.original, "release": column.release, "kind": column.kind.value, "as_text": not local}
            for column in columns
        ],
        sensitive=[{"original": column.original, "release": column.release} for column in sensitive],
        **parameters,
    )
    types = [("in_original", "INTEGER"), ("in_release", "INTEGER"), *((text, "VARCHAR") for text in texts)]
    coded = bench.make(
        name,
        "compare/release_coded",
        "rows as numbers",
        seen=Raw(f"({statement.sql}\n)")
        if local
        else bench.count(name + "_seen", statement, [*types, ("n", "BIGINT")]),
        with_original="v" in parts,
        with_release="g" in parts,
        columns=[
            {
                "words": column.words.relation,
                "cells": column.cells,
                "null_value": column.null_value,
                "by": "v" if local else "float" if column.kind is Kind.FLOAT else "key",
            }
            for column in columns
        ],
        sensitive=[{"lanes": attribute.lanes, "null_lane": attribute.null_lane} for attribute in sensitive],
        value_key=packed([(f"v{column.place}", column.words.values) for column in columns]),
        cell_key=packed([(f"g{column.place}", column.cell_count) for column in columns]),
    )
    bench.forget(name + "_seen")
    return coded


def packed(names: Sequence[tuple[str, int]]) -> str:
    """One key for several codes: a whole number while it fits, else their text.

    Args:
        names: columns, each with one more than its largest code.

    Example:
        >>> packed([("v1", 3), ("v2", 10)])
        'CAST(v1 AS BIGINT) * 10 + v2'
    """
    size = math.prod(max(1, domain) for _, domain in names)
    if size >= 1 << 126:
        return " || ',' || ".join(f"CAST({name} AS VARCHAR)" for name, _ in names)
    key = f"CAST({names[0][0]} AS {'BIGINT' if size < 1 << 62 else 'HUGEINT'})"
    for position, (name, domain) in enumerate(names[1:]):
        key = f"{f'({key})' if position else key} * {max(1, domain)} + {name}"
    return key


# What each cell of the release stands for: the values of the original under it, its level, and what that costs.
#
# Cells that are neither values nor labels of the original, read with the parser that hierarchies and releases share.
#
# Values and labels are found in SQL, since there may be many of them; what is left is few different texts.


@dataclass(frozen=True)
class Covered:
    """The cells of one column.

    Args:
        cover: cell, word (a value's number), fits (false: the cell stands for no value, and so counts as any).
        cells: one row a cell: code, m (rows), fits, is_value, is_odd (neither value nor label), level, covered_rows,
            covered_values, entropy, width, is_whole.
    """

    column: PairedColumn
    cover: Relation
    cells: Relation


def domains_of(covered: Sequence[Covered]) -> list[tuple[int, int]]:
    """(place, different values without NULL) of the columns."""
    return [
        (
            covered_column.column.place,
            covered_column.column.words.values - bool(covered_column.column.words.missing_rows),
        )
        for covered_column in covered
    ]


MOST_CELLS = 200_000
"""Different cells of one column that are parsed at most; values and labels of the hierarchy do not count."""


def read_cover(bench: Bench, column: PairedColumn) -> Relation:
    """Return which values each cell of a column stands for.

    Raises:
        UsageError: a cell that cannot be read, or too many different ones; the column is named, not the cell.
    """
    position, step = column.place, f"cells of {column.label}"
    relations = {"values": column.words.relation, "levels": column.levels}
    readings = bench.make(f"readings_{position}", "compare/release_readings", step, cells=column.cells, **relations)
    rows = bench.ask("compare/release_unread", step, readings=readings, limit=MOST_CELLS + 1)
    if len(rows) > MOST_CELLS:
        raise UsageError(
            f"{column.label}: the release has more than {MOST_CELLS:,} different cells that are neither values of "
            "the original nor labels of a hierarchy. Give the hierarchy of the release."
        )
    members = exact = None
    if rows:
        masks = masks_of_cells(bench, column, [text for _, text in rows])
        read = reader_of(column.words, bench.workbench).read_all(masks.get(text, text) for _, text in rows)
        cells = {int(code): read[masks.get(text, text)] for code, text in rows}
        name = f"members_of_cells_{position}"
        members = bench.kept[name] = membership(bench.workbench, column.words, cells, bench.prefix + name)
        single = [(code,) for code, cell in cells.items() if isinstance(cell, Exact)]  # values in another spelling
        exact = bench.rows(f"exact_{position}", [("code", "INTEGER")], single) if single else None
    step = f"values under {step}"
    return bench.make(
        f"cover_{position}", "compare/release_cover", step, readings=readings, members=members, exact=exact, **relations
    )


_FILLED = re.compile(r"(?P<shown>[^*]*?)(?P<fill>x+|X+|#+)")


def masks_of_cells(bench: Bench, column: PairedColumn, texts: Sequence[str]) -> dict[str, str]:
    """Return the masks of cells that are the beginning of a value, alone or filled up: `10`, `10XXX` for `10***`.

    All values of the original must have one length, which the filled cells have, too, and the others one length of
    their own. A number is cut only in a column whose name is that of a place or code: 34 cut to 3 is another number.

    Args:
        texts: cells that are neither values nor labels.
    """
    if column.kind not in (Kind.TEXT, Kind.INTEGER):
        return {}
    shortest, longest = bench.ask("compare/release_lengths", f"cells of {column.label}", values=column.words.relation)[
        0
    ]
    if not longest or shortest != longest:
        return {}
    length, masks = int(longest), {}
    cut = [text for text in texts if text and "*" not in text and len(text) < length]
    for text in texts:
        if len(text) == length and (filled := _FILLED.fullmatch(text)):
            masks[text] = filled["shown"] + "*" * len(filled["fill"])
    concept = concept_of(column.label)
    is_code = bool({"code", "codes"} & {*words_of(column.label)}) or (concept and concept.name in _CODES)
    is_text = column.kind is Kind.TEXT and any(not text.isdecimal() or text.startswith("0") for text in cut)
    if len({len(text) for text in cut}) == 1 and (is_text or is_code):
        masks |= {text: text.ljust(length, "*") for text in cut}
    return masks


_CODES = ("postal_code", "place")
"""Concepts whose numbers are codes."""


def measured_cells(bench: Bench, coded: CodedPair, covers: Sequence[Relation]) -> tuple[Covered, ...]:
    """The facts of all cells, column by column."""
    covered = []
    for column, cover in zip(coded.columns, covers, strict=True):
        cells = bench.make(
            f"facts_{column.place}",
            "compare/release_cells",
            f"cells of {column.label}",
            place=column.place,
            release=coded.release,
            cover=cover,
            values=column.words.relation,
            readings=bench.kept[f"readings_{column.place}"],
            levels=column.levels[:-1],
            height=column.height,
            numeric=column.numeric,
            all_values=column.words.values,
        )
        covered.append(Covered(column, cover, cells))
    return tuple(covered)


MOST_PARTS = 40
"""So many values and cells of a column are counted one by one in its picture."""
LEAST_ROWS = 5
"""Values and cells of fewer rows are counted together, and all counts are rounded to multiples of it. Exact ones give a
small value away where the release merges it with a large one: the cell has a few rows more than the value had."""


def read_spreads(bench: Bench, coded: CodedPair, covered: Sequence[Covered]) -> tuple[ColumnSpread, ...]:
    """Return how the rows spread over the values of each column in both tables, without naming a value."""
    sides = [
        *(
            (cover.column.label, "quasi-identifier", (cover.column.words.relation, "row_count"), (cover.cells, "m"))
            for cover in covered
        ),
        *(
            (column.label, "sensitive", (column.lanes, "total"), (column.lanes, "released"))
            for column in coded.sensitive
        ),
    ]
    sources = [
        {"place": number, "side": side, "relation": relation, "rows": rows}
        for number, (_, _, *both) in enumerate(sides)
        for side, (relation, rows) in enumerate(both)
    ]
    limits = {"most": MOST_PARTS, "least": LEAST_ROWS}
    rows = bench.ask("compare/release_spread", "rows by value", sources=sources, **limits)
    counts = {}
    for column, side, rank, rows_of_value, values in rows:
        rounded = (int(rows_of_value) + LEAST_ROWS // 2) // LEAST_ROWS * LEAST_ROWS
        counts[int(column), int(side), int(rank)] = rounded, int(values)
    spreads = []
    for number, (label, role, *_) in enumerate(sides):
        own, released = (
            {rank: counted for (*table, rank), counted in sorted(counts.items()) if table == [number, side]}
            for side in (0, 1)
        )
        values, cells = (sum(different for _, different in side.values()) for side in (own, released))
        before, after = (tuple(count for rank, (count, _) in side.items() if rank) for side in (own, released))
        rare_values, rare_cells = (side.get(0, (0, 0))[0] for side in (own, released))
        spreads.append(ColumnSpread(label, role, values, cells, before, rare_values, after, rare_cells))
    return tuple(spreads)


# The earth mover's distances of t-closeness over lanes: groups of values whose shares are compared.

MOST_ORDERED = 2_000
"""Values that the ordered distance is offered for at most: it compares every beginning of the order."""


@dataclass(frozen=True)
class Distance:
    """A distance of mixtures of sensitive values: the sum over groups of |share - share|, times `weight`.

    Args:
        members: a relation grp, lane, part: the lanes of each group, and the original rows with any of them.
    """

    members: Relation
    weight: Fraction


Groups = tuple[list[list[int]], Fraction]


def groups_of(attribute: PairedAttribute, name: str, inputs: Mapping[str, object]) -> Groups:
    """The groups of lanes of a distance, and what each difference weighs.

    Raises:
        UsageError: the values have no order, or there is no tree.
    """
    table, attribute_inputs = attribute.table, inputs_of(inputs, attribute.label, attribute.table)
    if name == "ordered":  # every beginning of the order is a group; the whole of it says nothing
        order = _order_of(attribute, attribute_inputs)
        beginnings = [[lane for lane in order[: end + 1] if lane >= 0] for end in range(len(order) - 1)]
        return beginnings, Fraction(1, max(1, len(order) - 1))
    if name == "equal":
        return [[lane] for lane in range(table.distinct)], Fraction(1, 2)
    if "tree" not in attribute_inputs:
        raise UsageError(
            f"{spelled('distance', 'hierarchical')} needs a tree of the values of {attribute.label}. Give it in a "
            f"file with {spelled('inputs')}."
        )
    return [list(lanes) for level in attribute_inputs["tree"].levels for lanes in level], Fraction(
        1, 2 * attribute_inputs["tree"].height
    )


def distance_of(bench: Bench, attribute: PairedAttribute, name: str, inputs: Mapping[str, object]) -> Distance:
    """The distance of that name for one attribute.

    Raises:
        UsageError: as `groups_of`.
    """
    groups, weight = groups_of(attribute, name, inputs)
    totals = attribute.table.totals
    rows = [
        (number, lane, sum(totals[other] for other in lanes)) for number, lanes in enumerate(groups) for lane in lanes
    ]
    columns = [("grp", "BIGINT"), ("lane", "BIGINT"), ("part", "BIGINT")]
    return Distance(bench.rows(f"members_{attribute.place}", columns, rows), weight)


def _order_of(attribute: PairedAttribute, attribute_inputs: Mapping[str, Any]) -> list[int]:
    """Return the order of an attribute's values: the declared one, or that of numbers and dates.

    Raises:
        UsageError: there is none, or it has too many values.
    """
    table = attribute.table
    if "order" in attribute_inputs:
        order = list(attribute_inputs["order"])
    elif not table.ordered or table.has_null:
        why = "missing values have" if table.ordered else "its values are text and have"
        raise UsageError(
            f"{spelled('distance', 'ordered')}: {attribute.label}: {why} no order of their own; declare one "
            "under 'order' in a file "
            f"with {spelled('inputs')}."
        )
    else:
        order = list(range(table.distinct))
    if len(order) > MOST_ORDERED:
        raise UsageError(
            f"{spelled('distance', 'ordered')}: {attribute.label} has {len(order):,} different values, and the "
            "distance is offered "
            f"for at most {MOST_ORDERED:,}; round them, or use {spelled('distance', 'equal')}."
        )
    return order
