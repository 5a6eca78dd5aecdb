"""Original and release as numbers on the workbench: values, cells, what cells stand for, and distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.opening import MAX_VALUES_READ
from sqlaudit.hierarchies.cell_reader import reader_of
from sqlaudit.hierarchies.cells import Exact
from sqlaudit.hierarchies.dictionary import Dictionary, dictionary, membership
from sqlaudit.hierarchies.levels import Hierarchy
from sqlaudit.release.compare.pairing import Bench, Pairing, Side, travels_as

# Original and release as numbers on the workbench: dictionaries of values and cells, and rows counted by both.

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


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
        """What the original holds."""
        return self.words.holds.kind

    @property
    def numeric(self) -> bool:
        """Whether widths of intervals have a meaning."""
        return self.kind in _NUMBERS

    @property
    def height(self) -> int:
        """The top level; a column that is kept is suppressed at level 1 all the same."""
        return max(1, self.words.hierarchy.height)

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
    found = []
    sides = zip(original.columns, release.columns, hierarchies, strict=True)
    for place, (own, other, hierarchy) in enumerate(sides, 1):
        name = f"values_{place}"
        words = dictionary(bench.engine, bench.workbench, original.relation, own, hierarchy, bench.prefix + name)
        bench.kept[name] = words.relation
        cells, count = _texts(bench, release, other, f"cells_{place}")
        found.append(PairedColumn(hierarchy.column, place, own, other, words, cells, count))
    return tuple(found)


def _texts(bench: Bench, side: Side, column: Resolved, name: str) -> tuple[Relation, int]:
    statement = render(
        "release/compare/release_texts.sql",
        bench.engine.dialect,
        step=f"cells of {column.label}",
        source=Raw(side.relation.sql),
        column=Raw(column.sql),
    )
    seen = bench.count(name + "_seen", statement, [("t", "VARCHAR"), ("n", "BIGINT")])
    cells = bench.make(name, "release/compare/release_cell_codes.sql", f"cells of {column.label}", seen=seen)
    bench.forget(name + "_seen")
    return cells, bench.number("release/compare/release_largest.sql", "cells", source=cells, column="code") + 1


def read_sensitive(bench: Bench, original: Side, release: Side) -> tuple[PairedAttribute, ...]:
    """The sensitive values of both tables.

    Raises:
        UsageError: more values than are read.
    """
    found = []
    for place, (own, other) in enumerate(zip(original.sensitive, release.sensitive, strict=True), 1):
        seen = [
            _sensitive(bench, original, own, f"lanes_{place}_original"),
            _sensitive(bench, release, other, f"lanes_{place}_release"),
        ]
        name = f"lanes_{place}"
        lanes = bench.make(
            name, "release/compare/release_lanes.sql", f"values of {own.label}", original=seen[0], released=seen[1]
        )
        bench.forget(f"{name}_original", f"{name}_release")
        found.append(_attribute(bench, own, other, place, lanes))
    return tuple(found)


def _sensitive(bench: Bench, side: Side, column: Resolved, name: str) -> Relation:
    statement = render(
        "release/compare/release_sensitive.sql",
        bench.engine.dialect,
        step=f"values of {column.label}",
        source=Raw(side.relation.sql),
        column=Raw(column.sql),
        travels=bench.is_local or bool(travels_as(column.kind)),
    )
    types = [("v", travels_as(column.kind) or "VARCHAR"), ("t", "VARCHAR"), ("n", "BIGINT")]
    return bench.count(name, statement, types)


def _attribute(bench: Bench, own: Resolved, other: Resolved, place: int, lanes: Relation) -> PairedAttribute:
    rows = bench.ask(
        "release/compare/release_lane_rows.sql", f"values of {own.label}", lanes=lanes, limit=MAX_VALUES_READ + 1
    )
    if len(rows) > MAX_VALUES_READ:
        raise UsageError(
            f"{own.label} has more than {MAX_VALUES_READ:,} different values; a sensitive attribute may have at most "
            f"{MAX_VALUES_READ:,}. Round or group it first."
        )
    has_null = bool(rows) and rows[-1][1] is None
    values = tuple(row[0] if row[0] is not None else row[1] for row in rows)
    table = SensitiveTable(
        own.label, tuple(int(row[2]) for row in rows), has_null, own.kind.has_natural_order, own.collated, values
    )
    return PairedAttribute(own.label, place, own, other, lanes, table, len(rows) - 1 if has_null else -1)


def code_rows(
    bench: Bench,
    pairing: Pairing,
    original: Side,
    release: Side,
    columns: Sequence[PairedColumn],
    sensitive: Sequence[PairedAttribute],
) -> CodedPair:
    """Both tables as numbers, counted; paired when the pairing says how."""
    coder = _Coder(bench, original, release, columns, sensitive)
    if pairing.by == "containment":
        own, other = coder.side("original"), coder.side("release")
        rows, released = (bench.number("release/compare/release_total.sql", "rows", source=one) for one in (own, other))
        return CodedPair(tuple(columns), tuple(sensitive), own, other, False, rows, released, released)
    both = coder.pairs(pairing)
    rows, released, matched = (
        int(x or 0) for x in bench.ask("release/compare/release_matched.sql", "rows that match", coded=both)[0]
    )
    kept = bench.make("both", "release/compare/release_originals.sql", "rows with an original", coded=both)
    bench.forget("coded")
    return CodedPair(tuple(columns), tuple(sensitive), kept, kept, True, rows, released, matched)


@dataclass(frozen=True)
class _Coder:
    """Renders the statements that turn rows into numbers."""

    bench: Bench
    original: Side
    release: Side
    columns: Sequence[PairedColumn]
    sensitive: Sequence[PairedAttribute]

    def pairs(self, pairing: Pairing) -> Relation:
        """Both sides together, rows of one side alone included."""
        keys = [
            {"original": Raw(own), "release": Raw(other)}
            for own, other in zip(pairing.original_keys, pairing.release_keys, strict=True)
        ]
        parameters = {
            "keys": keys,
            "original": Raw(self.original.relation.sql),
            "release": Raw(self.release.relation.sql),
        }
        return self._coded("coded", "release/compare/release_pairs.sql", parameters, "vg")

    def side(self, side: str) -> Relation:
        """One side alone."""
        source = self.original if side == "original" else self.release
        parameters = {"side": side, "source": Raw(source.relation.sql)}
        return self._coded(
            f"coded_{side}", "release/compare/release_side.sql", parameters, "v" if side == "original" else "g"
        )

    def _coded(self, name: str, template: str, parameters: dict[str, Any], parts: str) -> Relation:
        bench = self.bench
        statement = render(
            template,
            bench.engine.dialect,
            step="rows",
            counted=not bench.is_local,
            columns=[
                {
                    "original": Raw(c.original.sql),
                    "release": Raw(c.release.sql),
                    "kind": c.kind.value,
                    "as_text": not bench.is_local,
                }
                for c in self.columns
            ],
            sensitive=[{"original": Raw(a.original.sql), "release": Raw(a.release.sql)} for a in self.sensitive],
            **parameters,
        )
        if bench.is_local:
            seen = Raw(f"({statement.sql}\n)")
        else:
            seen = Raw(bench.count(name + "_seen", statement, self._types(parts)).sql)
        made = bench.make(
            name,
            "release/compare/release_coded.sql",
            "rows as numbers",
            seen=seen,
            with_original="v" in parts,
            with_release="g" in parts,
            columns=[self._column(c) for c in self.columns],
            sensitive=[{"lanes": a.lanes, "null_lane": a.null_lane} for a in self.sensitive],
            value_key=packed([(f"v{c.place}", c.words.values) for c in self.columns]),
            cell_key=packed([(f"g{c.place}", c.cell_count) for c in self.columns]),
        )
        bench.forget(name + "_seen")
        return made

    def _column(self, column: PairedColumn) -> dict[str, Any]:
        by = "v" if self.bench.is_local else "float" if column.kind is Kind.FLOAT else "key"
        return {"words": column.words.relation, "cells": column.cells, "null_value": column.null_value, "by": by}

    def _types(self, parts: str) -> list[tuple[str, str]]:
        types = [("in_original", "INTEGER"), ("in_release", "INTEGER")]
        types += [(f"{part}{c.place}", "VARCHAR") for c in self.columns for part in parts]
        sides = {"v": "s", "g": "z"}
        types += [(f"{sides[part]}{a.place}", "VARCHAR") for a in self.sensitive for part in parts]
        return [*types, ("n", "BIGINT")]


def packed(names: Sequence[tuple[str, int]]) -> str:
    """One key for several codes: a whole number while it fits, else their text.

    Args:
        names: columns, each with one more than its largest code.

    Example:
        >>> packed([("v1", 3), ("v2", 10)])
        'CAST(v1 AS BIGINT) * 10 + v2'
    """
    size = 1
    for _, domain in names:
        size *= max(1, domain)
    if size >= 1 << 126:
        return " || ',' || ".join(f"CAST({name} AS VARCHAR)" for name, _ in names)
    wide = "BIGINT" if size < 1 << 62 else "HUGEINT"
    key = f"CAST({names[0][0]} AS {wide})"
    for position, (name, domain) in enumerate(names[1:], 1):
        left = key if position == 1 else f"({key})"
        key = f"{left} * {max(1, domain)} + {name}"
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


def read_cover(bench: Bench, column: PairedColumn) -> Relation:
    """Which values each cell of a column stands for.

    Raises:
        UsageError: a cell that cannot be read; the sentence names the column, not the cell.
    """
    place, levels = column.place, levels_of(column)
    values = column.words.relation
    readings = bench.make(
        f"readings_{place}",
        "release/compare/release_readings.sql",
        f"cells of {column.label}",
        cells=column.cells,
        values=values,
        levels=levels,
    )
    parts = parsed(bench, column, readings)
    return bench.make(
        f"cover_{place}",
        "release/compare/release_cover.sql",
        f"values under cells of {column.label}",
        readings=readings,
        values=values,
        levels=levels,
        members=parts.members,
        exact=parts.exact,
    )


def measured_cells(bench: Bench, coded: CodedPair, covers: Sequence[Relation]) -> tuple[Covered, ...]:
    """The facts of all cells, column by column."""
    return tuple(_measured(bench, coded, column, cover) for column, cover in zip(coded.columns, covers, strict=True))


def _measured(bench: Bench, coded: CodedPair, column: PairedColumn, cover: Relation) -> Covered:
    levels = levels_of(column)
    cells = bench.make(
        f"facts_{column.place}",
        "release/compare/release_cells.sql",
        f"cells of {column.label}",
        place=column.place,
        release=coded.release,
        cover=cover,
        values=column.words.relation,
        readings=bench.kept[f"readings_{column.place}"],
        levels=levels[:-1],
        height=column.height,
        numeric=column.numeric,
        all_values=column.words.values,
    )
    return Covered(column, cover, cells)


def domains_of(covered: Sequence[Covered]) -> list[tuple[int, int]]:
    """(place, different values without NULL) of the columns."""
    return [(one.column.place, one.column.words.values - bool(one.column.words.missing_rows)) for one in covered]


def levels_of(column: PairedColumn) -> list[int]:
    """The numbers of a column's levels above its values."""
    return list(range(1, column.words.hierarchy.height + 1))


MOST_CELLS = 200_000
"""Different cells of one column that are parsed at most; values and labels of the hierarchy do not count."""


@dataclass(frozen=True)
class Parsed:
    """What was parsed, as relations of the workbench; None when nothing was.

    Args:
        members: code, id: the values (by their numbers) in each cell.
        exact: code: cells that are a single value in another spelling.
    """

    members: Relation | None = None
    exact: Relation | None = None


def parsed(bench: Bench, column: PairedColumn, readings: Relation) -> Parsed:
    """What the cells of a column say that are neither values nor labels.

    Raises:
        UsageError: a cell that cannot be read, or too many different ones; the column is named, not the cell.
    """
    rows = bench.ask(
        "release/compare/release_unread.sql", f"cells of {column.label}", readings=readings, limit=MOST_CELLS + 1
    )
    if not rows:
        return Parsed()
    if len(rows) > MOST_CELLS:
        raise UsageError(
            f"{column.label}: the release has more than {MOST_CELLS:,} different cells that are no values of the "
            "original and no labels of its hierarchy; give the hierarchy that they were made with."
        )
    read = reader_of(column.words, bench.workbench).read_all(text for _, text in rows)
    cells = {int(code): read[text] for code, text in rows}
    name = f"members_of_cells_{column.place}"
    members = membership(bench.workbench, column.words, cells, bench.prefix + name)
    bench.kept[name] = members
    exact = [(code,) for code, cell in cells.items() if isinstance(cell, Exact)]
    return Parsed(members, bench.rows(f"exact_{column.place}", [("code", "INTEGER")], exact) if exact else None)


# The earth mover's distances of t-closeness over lanes: groups of values whose shares are compared.

MOST_ORDERED = 2_000
"""Values that the ordered distance is offered for at most: it compares every beginning of the order."""


@dataclass(frozen=True)
class Distance:
    """A distance of mixtures of sensitive values: the sum over groups of |share - share|, times `weight`.

    Args:
        members: a relation grp, lane, part: the lanes of each group, and the original rows with any of them.
    """

    name: str
    members: Relation
    weight: Fraction


def groups_of(attribute: PairedAttribute, name: str, inputs: Mapping[str, Any]) -> Groups:
    """The groups of lanes of a distance, and what each difference weighs.

    Raises:
        UsageError: as `distance_of`.
    """
    return _GROUPS[name](attribute, inputs_of(inputs, attribute.label, attribute.table))


def distance_of(bench: Bench, attribute: PairedAttribute, name: str, inputs: Mapping[str, Any]) -> Distance:
    """The distance of that name for one attribute.

    Raises:
        UsageError: the values have no order, or there is no tree.
    """
    groups, weight = groups_of(attribute, name, inputs)
    totals = attribute.table.totals
    rows = [(number, lane, sum(totals[one] for one in lanes)) for number, lanes in enumerate(groups) for lane in lanes]
    columns = [("grp", "BIGINT"), ("lane", "BIGINT"), ("part", "BIGINT")]
    return Distance(name, bench.rows(f"members_{attribute.place}", columns, rows), weight)


Groups = tuple[list[list[int]], Fraction]


def _equal(attribute: PairedAttribute, _: Mapping[str, Any]) -> Groups:
    return [[lane] for lane in range(attribute.table.distinct)], Fraction(1, 2)


def _ordered(attribute: PairedAttribute, inputs: Mapping[str, Any]) -> Groups:
    """Every beginning of the order is a group; the whole of it says nothing."""
    table = attribute.table
    if "order" in inputs:
        order = list(inputs["order"])
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
    beginnings = [[lane for lane in order[: end + 1] if lane >= 0] for end in range(len(order) - 1)]
    return beginnings, Fraction(1, max(1, len(order) - 1))


def _hierarchical(attribute: PairedAttribute, inputs: Mapping[str, Any]) -> Groups:
    if "tree" not in inputs:
        raise UsageError(
            f"{spelled('distance', 'hierarchical')}: give a tree over the values of {attribute.label} in a file "
            f"with {spelled('inputs')}."
        )
    tree = inputs["tree"]
    return [list(lanes) for level in tree.levels for lanes in level], Fraction(1, 2 * tree.height)


_GROUPS = {"equal": _equal, "ordered": _ordered, "hierarchical": _hierarchical}
