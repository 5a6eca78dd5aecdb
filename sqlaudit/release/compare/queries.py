"""Aggregate queries, given or drawn at random, asked of the original and of the release."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from sqlaudit.base.columns_of import Resolved, find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Relation, Row
from sqlaudit.base.sql import Raw, expression
from sqlaudit.classes.inputs import read_inputs
from sqlaudit.classes.opening import MAX_VALUES_READ
from sqlaudit.hierarchies.cell_reader import CellReader, reader_of
from sqlaudit.hierarchies.cells import AnyValue, Cell
from sqlaudit.models.measures import RangeQuery, random_ranges
from sqlaudit.release.compare.coding import MOST_CELLS, PairedAttribute, domains_of, groups_of, packed
from sqlaudit.release.compare.pairing import Side
from sqlaudit.release.compare.query_text import (
    OTHERS,
    TYPES,
    AggregateQuery,
    Tried,
    can_satisfy,
    parts_of,
    place_of,
    tried_values,
)
from sqlaudit.release.compare.regions import OpenedTables
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import METHODS, AnswerDistance, Errors, Group, QueryAnswer, Workload
from sqlaudit.release.losses import AT_ONCE, NO_REGIONS

# Answers of a counting query as distributions, and how far those of the release are from the original's.
#
# A query that counts by groups has a query result distribution (Thesis, Definitions 2.5.2 to 2.5.6): the share of each
# value of one column among what the query selects. N_tau of section 4.5 is the earth mover's distance between that of
# the original and that of the release.

ORIGINAL = "original"
Shares = Mapping[str | None, float]
Between = Callable[[Shares, Shares], float]


@dataclass(frozen=True)
class Distributed:
    """The column that a query distributes: its name, its place among the groups, and how far shares of it are apart."""

    name: str
    place: int
    between: Between


def equally_far(one: Shares, other: Shares) -> float:
    """The distance when all values are equally far apart: half the sum of differences.

    Example:
        >>> equally_far({"a": 0.5, "b": 0.5}, {"a": 1.0})
        0.5
    """
    return sum(abs(one.get(value, 0.0) - other.get(value, 0.0)) for value in sorted({*one, *other}, key=str)) / 2


def in_lanes(lanes: Mapping[str | None, int], groups: Sequence[Sequence[int]], weight: float) -> Between:
    """A distance that is a weighted sum over groups of lanes of differences.

    Args:
        lanes: the lane of each value by its text. groups: lanes. weight: of each group.
    """

    def between(one: Shares, other: Shares) -> float:
        moved = {lane: one.get(text, 0.0) - other.get(text, 0.0) for text, lane in lanes.items()}
        return sum(weight * abs(sum(moved.get(lane, 0.0) for lane in group)) for group in groups)

    return between


def as_distribution(
    found: Sequence[tuple[tuple[str | None, ...], Group]], of: Distributed
) -> tuple[list[Group], list[AnswerDistance]]:
    """The groups with their shares, and a distance for each combination of the other columns.

    Args:
        found: the key and the counts of each group, in the order of their keys.
    """
    together: dict[tuple[str | None, ...], list[int]] = {}
    for number, (key, _) in enumerate(found):
        together.setdefault(key[: of.place] + key[of.place + 1 :], []).append(number)
    groups = [group for _, group in found]
    distances: list[AnswerDistance] = []
    for rest, numbers in together.items():
        counts = {name: [groups[number].answers[name] for number in numbers] for name in METHODS}
        counts = {ORIGINAL: [groups[number].truth for number in numbers], **counts}
        shares = {name: _shares(column) for name, column in counts.items()}
        values = [found[number][0][of.place] for number in numbers]
        by_value: dict[str, Shares] = {
            name: {value: share for value, share in zip(values, column, strict=True) if share is not None}
            for name, column in shares.items()
        }
        own = by_value[ORIGINAL]
        apart = {name: of.between(own, by_value[name]) if own and by_value[name] else None for name in METHODS}
        named = groups[numbers[0]].key is not None
        distances.append(AnswerDistance(apart, rest if named else None))
        for place, number in enumerate(numbers):
            groups[number] = replace(groups[number], shares={name: column[place] for name, column in shares.items()})
    return groups, distances


def _shares(counts: Sequence[float | None]) -> list[float | None]:
    """Of their sum; None where nothing is counted, or nothing could be."""
    whole = sum(count or 0.0 for count in counts)
    return [None if count is None or not whole else count / whole for count in counts]


# A query's answers as they are told: groups, relative errors, and distributions where groups are counted.

SHOWN_GROUPS = 1_000


def answer_of(
    query: AggregateQuery, rows: Sequence[Row], distributed: Distributed | None, *, conditional: bool, show_values: bool
) -> QueryAnswer:
    """A query's answer, from a row a group: its key, the truth, and what each method says.

    Args:
        distributed: the column whose values a counting query distributes. conditional: whether the regions of classes
            were looked at. show_values: whether groups keep their keys.
    """
    found = []
    for *key, truth, plain, by_region, independent in rows:
        answers = (plain, by_region if conditional else None, independent)
        named = tuple(key) if show_values and key else None
        found.append((tuple(key), Group(truth, dict(zip(METHODS, answers, strict=True)), named)))
    groups, distances = [group for _, group in found], list[AnswerDistance]()
    if distributed is not None:
        groups, distances = as_distribution(found, distributed)
    errors = {name: Errors.of(relative_errors(groups, name)) for name in METHODS if conditional or name != METHODS[1]}
    if query.groups and not any(group.key for group in groups):
        # groups without their keys come by their answers, so that their place does not give a key away
        groups.sort(key=lambda one: tuple(-(value or 0.0) for value in (one.truth, *one.answers.values())))
    return QueryAnswer(
        query.number,
        query.aggregate,
        tuple(groups[:SHOWN_GROUPS]),
        len(groups),
        errors,
        "" if conditional else NO_REGIONS,
        "" if distributed is None else distributed.name,
        tuple(distances[:SHOWN_GROUPS]),
    )


def relative_errors(groups: Sequence[Group], method: str) -> list[float]:
    """|answer - truth| / |truth| of the groups that either table has; what only one of them answers is an error of 1.

    Example:
        >>> groups = [Group(2, {"plain": 3}), Group(0, {"plain": 1}), Group(4, {"plain": None}), Group(0, {"plain": 0})]
        >>> relative_errors(groups, "plain")
        [0.5, 1.0, 1.0, 0.0]
    """
    pairs = ((group.truth, group.answers[method]) for group in groups)
    return [relative_error(truth, answer) for truth, answer in pairs if truth is not None or answer is not None]


def relative_error(truth: float | None, answer: float | None) -> float:
    """How far an answer is off, as a share of the truth; 1 where only one of them is there, or other than 0."""
    if truth is None or answer is None:
        return 1.0
    if not truth:
        return 1.0 if answer else 0.0
    return abs(answer - truth) / abs(truth)


# Aggregate queries asked of the original and of the release: what is a release still good for? (Thesis 2.5 and 4.3)
#
# A released row counts for a query: 1 when its cells can satisfy it (non-corrected), the share of the original rows in
# the region of its class that satisfy it (corrected by conditional probability), or the product over the columns of the
# shares under its cells (independently corrected). A cell can satisfy a condition by a value that no original row has.

MOST_GROUPS = 100_000
_COUNTS = [("n", "BIGINT"), ("total", "DOUBLE"), ("present", "BIGINT")]


class AskedTables:
    """Both tables, for one query: its columns found, and its answers.

    Raises:
        UsageError: columns that are not there, or conditions that mix quasi-identifiers.
    """

    def __init__(self, tables: OpenedTables, request: CompareRequest, query: AggregateQuery) -> None:
        self.tables, self.request, self.query = tables, request, query
        self.bench, self.original = tables.bench, tables.original
        self.dialect, self.step = tables.bench.engine.dialect, f"query {query.number}"
        self.parts = parts_of(query, tables.covered, tables.original, self.dialect)
        self.linked = self.parts.linked

    def answer(self) -> QueryAnswer:
        """The query on both tables.

        Raises:
            UsageError: too many groups, or kinds of rows.
        """
        query, parts, covered, bench = self.query, self.parts, self.tables.covered, self.bench
        own = [*(self._key(place) for place in parts.grouped), *self._find(self.original, parts.further)]
        truth = self._count("query_truth", self.original, own, query.conditions)
        side = self.tables.release
        keys = self._find(side, [one.column.label for one in covered] + [*parts.further])
        if self.linked.formulas:
            keys.append(self._signature(side, OTHERS) or Raw("0"))
        released = self._count("query_released", side, keys, parts.elsewhere)
        words = [self._words(place) for place in parts.places]
        shares = [
            bench.make(
                f"shares_{place}",
                "compare/release_query_shares",
                "shares of cells",
                cover=covered[place - 1].cover,
                cells=covered[place - 1].cells,
                words=one,
                signed=place in self.linked.places,
            )
            for place, one in zip(parts.places, words, strict=True)
        ]
        shares = [self._reach(place, one) for place, one in zip(parts.places, shares, strict=True)]
        inside = self._inside(words)
        rows = bench.ask(
            "compare/release_query_answers",
            self.step,
            aggregate=query.aggregate,
            all_cells=[one.column.cells for one in covered],
            cell_key=packed([(f"g{one.column.place}", one.column.cell_count) for one in covered]),
            released=released,
            truth=truth,
            places_of=parts.places,
            shares=shares,
            inside=inside,
            grouped=parts.grouped,
            floats=[self._is_float(place) for place in parts.grouped],
            grouped_words=[covered[place - 1].column.words.relation for place in parts.grouped],
            further=list(range(1, len(parts.further) + 1)),
            linked=self.linked.places,
            met=self._met(shares, released),
            limit=MOST_GROUPS + 1,
        )
        if len(rows) > MOST_GROUPS:
            raise UsageError(f"{query.option}: has more than {MOST_GROUPS:,} groups.")
        conditional = bool(inside) or not parts.places
        return answer_of(
            query, rows, self._distributed(), conditional=conditional, show_values=self.request.show_values
        )

    def _distributed(self) -> Distributed | None:
        """The column whose values a counting query distributes: a sensitive one, else the last that it groups by."""
        query, opened = self.query, self.original.opened
        if query.aggregate != "COUNT" or not query.groups:
            return None
        columns = sorted(query.groups, key=lambda name: place_of(name, self.tables.covered, self.original) is None)
        by_column = {find_column(one.label, opened): one for one in self.tables.coded.sensitive}
        attributes = [by_column.get(find_column(name, opened)) for name in columns]
        place = max((place for place, one in enumerate(attributes) if one), default=len(columns) - 1)
        attribute = attributes[place]
        return Distributed(columns[place], place, equally_far if attribute is None else self._between(attribute))

    def _between(self, attribute: PairedAttribute) -> Between:
        """The distance that was asked for, between shares of the values of a sensitive attribute."""
        groups, weight = groups_of(attribute, self.request.distance, read_inputs(self.request.inputs))
        step = f"values of {attribute.label}"
        rows = self.bench.ask("compare/release_lane_rows", step, lanes=attribute.lanes, limit=MAX_VALUES_READ)
        return in_lanes({text: lane for lane, (_, text, _) in enumerate(rows)}, groups, float(weight))

    def _find(self, side: Side, texts: Sequence[str]) -> list[Resolved | Raw]:
        return [resolve(text, side.opened, self.dialect, self.query.option) for text in texts]

    def _is_float(self, place: int) -> bool:
        return self.tables.covered[place - 1].column.kind is Kind.FLOAT

    def _key(self, place: int) -> Raw:
        """A quasi-identifier of the original by its key, as its dictionary spells it."""
        template = "release/compare/release_query_key.sql"
        return Raw(expression(template, self.dialect, **self._column(place)))

    def _column(self, place: int) -> dict[str, Any]:
        column = self.tables.covered[place - 1].column
        (found,) = self._find(self.original, [column.label])
        return {"column": found, "kind": column.kind.value}

    def _signature(self, side: Side, place: int) -> Raw | None:
        """What the atoms of linked conditions about a column say of a row of one table; None without atoms."""
        found = self._find(side, self.linked.atoms.get(place, ()))
        template = "release/compare/release_query_signature.sql"
        return Raw(expression(template, self.dialect, atoms=found)) if found else None

    def _count(self, name: str, side: Side, keys: Sequence[Resolved | Raw], conditions: Sequence[str]) -> Relation:
        statement = self.bench.over_tables(
            "compare/release_query_rows",
            self.step,
            keys=keys,
            conditions=self._find(side, conditions),
            summed=self._find(side, [self.query.summed])[0] if self.query.summed else None,
            source=side.opened,
        )
        columns = [(f"k{place}", "VARCHAR") for place, _ in enumerate(keys, 1)]
        return self.bench.count(name, statement, [*columns, *_COUNTS])

    def _met(self, shares: Sequence[Relation], released: Relation) -> Relation | None:
        """The combinations of signatures for which the linked conditions hold."""
        parts, linked = self.parts, self.linked
        if not linked.formulas:
            return None
        sources = zip(parts.places, shares, strict=True)
        asked = {place: (source, "x") for place, source in sources if place in linked.places}
        asked[OTHERS] = released, f"k{len(self.tables.covered) + len(parts.further) + 1}"
        occurring = {}
        for place, (source, column) in asked.items():
            given = {"source": source, "column": column}
            rows = self.bench.ask("compare/release_query_occurring", "linked conditions", **given)
            occurring[place] = [int(x) for (x,) in rows]
        columns = [*((f"x{place}", "BIGINT") for place in linked.places), ("others", "BIGINT")]
        return self.bench.rows("query_met", columns, linked.met(occurring, self.query.option))

    def _inside(self, words: Sequence[Relation]) -> Relation | None:
        """The share of each region's rows that satisfies the query; None where regions are not known or not asked."""
        regions = self.tables.regions
        if regions is None or not self.parts.places:
            return None
        return self.bench.make(
            "query_inside",
            "compare/release_query_inside",
            "shares of regions",
            places_of=self.parts.places,
            words=words,
            linked=self.linked.places,
            tuples=regions.tuples,
            places=regions.places,
            inside=regions.inside,
            regions=regions.table,
        )

    def _words(self, place: int) -> Relation:
        """The values of a column that a query asks for."""
        signed, allowed = place in self.linked.places, None
        if signed or place in self.parts.conditions:
            statement = self.bench.over_tables(
                "compare/release_query_allowed",
                self.step,
                signature=self._signature(self.original, place),
                source=self.original.opened,
                conditions=self._find(self.original, self.parts.conditions.get(place, ())),
                **self._column(place),
            )
            columns = [("key", "VARCHAR"), ("x", "VARCHAR")]
            allowed = self.bench.count(f"allowed_{place}", statement, columns if signed else columns[:1])
        return self.bench.make(
            f"asked_words_{place}",
            "compare/release_query_words",
            "values that a query asks for",
            words=self.tables.covered[place - 1].column.words.relation,
            allowed=allowed,
            grouped=place in self.parts.grouped,
            signed=signed,
            float=self._is_float(place),
        )

    def _reach(self, place: int, shares: Relation) -> Relation:
        """The shares of a column's cells, with none for cells that satisfy the query only by values that no original
        row has. A group is a value of the original, so this is about conditions alone."""
        signed, bench = place in self.linked.places, self.bench
        if not (signed or place in self.parts.conditions) or place in self.parts.grouped:
            return shares
        rows = bench.ask(
            "compare/release_query_unreached",
            self.step,
            readings=bench.kept[f"readings_{place}"],
            shares=shares,
            everything=signed,
            limit=MOST_CELLS,
        )
        if not rows:
            return shares
        reader = reader_of(self.tables.covered[place - 1].column.words, bench.workbench)
        cells: dict[int, Cell] = {}
        for code, text, reading, level in rows:
            cell = AnyValue() if reading == "all" else reader.read(text, level)  # those are read so already
            if cell is not None:
                cells[int(code)] = cell
        can = [
            (code, signature)
            for signature, some in self._satisfying(place, reader, cells.values()).items()
            for code, cell in cells.items()
            if can_satisfy(cell, some, reader)
        ]
        if not can:
            return shares
        codes = bench.rows(f"can_{place}", [("code", "INTEGER"), ("x", "BIGINT")], can)
        given = {"shares": shares, "can": codes, "signed": signed}
        step = "cells that can satisfy a query"
        return bench.make(f"reached_{place}", "compare/release_query_reached", step, **given)

    def _satisfying(self, place: int, reader: CellReader, cells: Collection[Cell]) -> dict[int, list[Tried]]:
        """Of the values that are tried those that satisfy the conditions on a column, by signature (0 without one)."""
        conditions = self.parts.conditions.get(place, [])
        tried = tried_values([*conditions, *self.linked.atoms.get(place, ())], self.dialect, reader, cells)
        found = find_column(self.tables.covered[place - 1].column.label, self.original.opened)
        if not tried or found is None:
            return {}
        statement = self.bench.over_tables(
            "compare/release_query_tried",
            self.step,
            column=quote(found.name, "duckdb"),
            type=TYPES[reader.kind],
            tried=[Raw(exp.Literal.string(one.key).sql(dialect=self.dialect)) for one in tried],
            conditions=self._find(self.original, conditions),
            signature=self._signature(self.original, place),
        )
        satisfying: dict[int, list[Tried]] = {}
        for number, *signature in self.bench.engine.run(statement):
            satisfying.setdefault(int(signature[0]) if signature else 0, []).append(tried[int(number)])
        return satisfying


# A seeded random workload of counting queries: ranges of quasi-identifiers in the order of their values, and a
# sensitive value if there is one.


def random_workload(tables: OpenedTables, queries: int, seed: int) -> Workload:
    """Relative errors of random queries: COUNT(*) over ranges of a random number of quasi-identifiers.

    With a sensitive attribute (the first one) each query also asks for one of its values, drawn by its frequency.
    """
    attribute, known = next(iter(tables.coded.sensitive), None), tables.regions is not None
    asked = random_ranges(queries, seed, domains_of(tables.covered))
    answers = answers_of(tables, asked, attribute, random_lanes(attribute, queries, seed))
    errors: dict[str, list[float]] = {name: [] for name in METHODS if known or name != METHODS[1]}
    answered = dict.fromkeys(errors, 0)
    for truth, *found in answers:
        for name, answer in zip(METHODS, found, strict=True):
            if name in errors and truth:
                errors[name].append(abs(answer - truth) / truth)
            elif name in errors:
                answered[name] += bool(answer)
    empty = sum(not truth for truth, *_ in answers)
    of = {name: Errors.of(found) for name, found in errors.items()}
    return Workload(queries, empty, seed, of, "" if known else NO_REGIONS, answered)


def random_lanes(attribute: PairedAttribute | None, queries: int, seed: int) -> list[int | None]:
    """For each query a sensitive value, drawn by its frequency in the original."""
    if attribute is None or not attribute.table.total:
        return [None] * queries
    generator = random.Random(f"{seed} values")
    return list(generator.choices(range(attribute.table.distinct), attribute.table.totals, k=queries))


def answers_of(
    tables: OpenedTables, queries: Sequence[RangeQuery], attribute: PairedAttribute | None, lanes: Sequence[int | None]
) -> list[tuple[float, ...]]:
    """(truth, non-corrected, by conditional probability, independently corrected) of each query.

    Without regions the answer by conditional probability is 0 everywhere.
    """
    bench, regions, places = tables.bench, tables.regions, [one.column.place for one in tables.covered]
    source, held = (
        bench.make(
            f"asked_{name}",
            f"compare/release_asked_{name}",
            f"{name} for queries",
            source=rows,
            lane=f"{part}{attribute.place}" if attribute else "",
            places=places,
        )
        for name, rows, part in (("rows", tables.coded.original, "s"), ("classes", tables.coded.release, "z"))
    )
    given: dict[str, Any] = {"homes": None, "inside": None, "regions": None, "disjoint": False}
    if regions is not None:
        given = {"inside": regions.inside, "disjoint": regions.disjoint}
        step, homes = "rows for queries", {"tuples": regions.tuples, "placed": regions.places, "places": places}
        given["homes"] = bench.make("asked_homes", "compare/release_asked_homes", step, **homes, **given)
        given["regions"] = regions.table
    columns = [{"cover": one.cover, "cells": one.cells, "words": one.column.words.relation} for one in tables.covered]
    asked = [{"parts": query.parts(), "lane": lane} for query, lane in zip(queries, lanes, strict=True)]
    found: list[tuple[float, ...]] = []
    for start in range(0, len(asked), AT_ONCE):
        given["queries"] = asked[start : start + AT_ONCE]
        given["shares"] = bench.make(
            "asked_shares", "compare/release_asked_shares", "shares of cells", queries=given["queries"], columns=columns
        )
        rows = bench.ask("compare/release_asked", "random queries", source=source, classes=held, **given)
        found += [tuple(float(value or 0) for value in row[1:]) for row in rows]
    bench.forget("asked_rows", "asked_classes", "asked_shares", "asked_homes")
    return found
