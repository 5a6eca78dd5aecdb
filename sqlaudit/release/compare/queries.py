"""Aggregate queries, given or drawn at random, asked of the original and of the release."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

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


def equally_far(shares: Shares, other: Shares) -> float:
    """The distance when all values are equally far apart: half the sum of differences.

    Example:
        >>> equally_far({"a": 0.5, "b": 0.5}, {"a": 1.0})
        0.5
    """
    return sum(abs(shares.get(value, 0.0) - other.get(value, 0.0)) for value in sorted({*shares, *other}, key=str)) / 2


def in_lanes(lanes: Mapping[str | None, int], groups: Sequence[Sequence[int]], weight: float) -> Between:
    """A distance that is a weighted sum over groups of lanes of differences.

    Args:
        lanes: the lane of each value by its text. groups: lanes. weight: of each group.
    """

    def between(shares: Shares, other: Shares) -> float:
        moved = {lane: shares.get(text, 0.0) - other.get(text, 0.0) for text, lane in lanes.items()}
        return sum(weight * abs(sum(moved.get(lane, 0.0) for lane in group)) for group in groups)

    return between


def as_distribution(
    keyed_groups: Sequence[tuple[tuple[str | None, ...], Group]], of: Distributed
) -> tuple[list[Group], list[AnswerDistance]]:
    """The groups with their shares, and a distance for each combination of the other columns.

    Args:
        keyed_groups: the key and the counts of each group, in the order of their keys.
    """
    numbers_by_rest: dict[tuple[str | None, ...], list[int]] = {}
    for number, (key, _) in enumerate(keyed_groups):
        numbers_by_rest.setdefault(key[: of.place] + key[of.place + 1 :], []).append(number)
    groups = [group for _, group in keyed_groups]
    distances: list[AnswerDistance] = []
    for rest, numbers in numbers_by_rest.items():
        counts = {name: [groups[number].answers[name] for number in numbers] for name in METHODS}
        counts = {ORIGINAL: [groups[number].truth for number in numbers], **counts}
        shares = {name: _shares(column) for name, column in counts.items()}
        values = [keyed_groups[number][0][of.place] for number in numbers]
        by_value: dict[str, Shares] = {
            name: {value: share for value, share in zip(values, column, strict=True) if share is not None}
            for name, column in shares.items()
        }
        original_shares = by_value[ORIGINAL]
        distance_by_method = {
            name: of.between(original_shares, by_value[name]) if original_shares and by_value[name] else None
            for name in METHODS
        }
        named = groups[numbers[0]].key is not None
        distances.append(AnswerDistance(distance_by_method, rest if named else None))
        for position, number in enumerate(numbers):
            groups[number] = replace(groups[number], shares={name: column[position] for name, column in shares.items()})
    return groups, distances


def _shares(counts: Sequence[float | None]) -> list[float | None]:
    """Return the numbers as shares of their sum; None where nothing is counted, or nothing could be."""
    total = sum(count or 0.0 for count in counts)
    return [None if count is None or not total else count / total for count in counts]


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
    keyed_groups = []
    for *key, truth, plain, by_region, independent in rows:
        answers = (plain, by_region if conditional else None, independent)
        named = tuple(key) if show_values and key else None
        keyed_groups.append((tuple(key), Group(truth, dict(zip(METHODS, answers, strict=True)), named)))
    groups, distances = [group for _, group in keyed_groups], list[AnswerDistance]()
    if distributed is not None:
        groups, distances = as_distribution(keyed_groups, distributed)
    errors = {name: Errors.of(relative_errors(groups, name)) for name in METHODS if conditional or name != METHODS[1]}
    if query.groups and not any(group.key for group in groups):
        # groups without their keys come by their answers, so that their place does not give a key away
        groups.sort(key=lambda group: tuple(-(value or 0.0) for value in (group.truth, *group.answers.values())))
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
    """Return how far an answer is off, as a share of the truth; 1 where only one of them is there, or other than 0."""
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
        original_keys = [
            *(self._key(position) for position in parts.grouped),
            *self._find(self.original, parts.further),
        ]
        truth = self._count("query_truth", self.original, original_keys, query.conditions)
        side = self.tables.release
        keys = self._find(side, [covered_column.column.label for covered_column in covered] + [*parts.further])
        if self.linked.formulas:
            keys.append(self._signature(side, OTHERS) or Raw("0"))
        released = self._count("query_released", side, keys, parts.elsewhere)
        words = [self._words(position) for position in parts.places]
        shares = [
            bench.make(
                f"shares_{position}",
                "compare/release_query_shares",
                "shares of cells",
                cover=covered[position - 1].cover,
                cells=covered[position - 1].cells,
                words=values,
                signed=position in self.linked.places,
            )
            for position, values in zip(parts.places, words, strict=True)
        ]
        shares = [self._reach(position, of_cells) for position, of_cells in zip(parts.places, shares, strict=True)]
        inside = self._inside(words)
        rows = bench.ask(
            "compare/release_query_answers",
            self.step,
            aggregate=query.aggregate,
            all_cells=[covered_column.column.cells for covered_column in covered],
            cell_key=packed(
                [(f"g{covered_column.column.place}", covered_column.column.cell_count) for covered_column in covered]
            ),
            released=released,
            truth=truth,
            places_of=parts.places,
            shares=shares,
            inside=inside,
            grouped=parts.grouped,
            floats=[self._is_float(position) for position in parts.grouped],
            grouped_words=[covered[position - 1].column.words.relation for position in parts.grouped],
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
        by_column = {find_column(attribute.label, opened): attribute for attribute in self.tables.coded.sensitive}
        attributes = [by_column.get(find_column(name, opened)) for name in columns]
        index = max((index for index, attribute in enumerate(attributes) if attribute), default=len(columns) - 1)
        attribute = attributes[index]
        return Distributed(columns[index], index, equally_far if attribute is None else self._between(attribute))

    def _between(self, attribute: PairedAttribute) -> Between:
        """The distance that was asked for, between shares of the values of a sensitive attribute."""
        groups, weight = groups_of(attribute, self.request.distance, read_inputs(self.request.inputs))
        step = f"values of {attribute.label}"
        rows = self.bench.ask("compare/release_lane_rows", step, lanes=attribute.lanes, limit=MAX_VALUES_READ)
        return in_lanes({text: lane for lane, (_, text, _) in enumerate(rows)}, groups, float(weight))

    def _find(self, side: Side, texts: Sequence[str]) -> list[Resolved | Raw]:
        return [resolve(text, side.opened, self.dialect, self.query.option) for text in texts]

    def _is_float(self, position: int) -> bool:
        return self.tables.covered[position - 1].column.kind is Kind.FLOAT

    def _key(self, position: int) -> Raw:
        """A quasi-identifier of the original by its key, as its dictionary spells it."""
        template = "release/compare/release_query_key.sql"
        return Raw(expression(template, self.dialect, **self._column(position)))

    def _column(self, position: int) -> dict[str, object]:
        column = self.tables.covered[position - 1].column
        (resolved,) = self._find(self.original, [column.label])
        return {"column": resolved, "kind": column.kind.value}

    def _signature(self, side: Side, position: int) -> Raw | None:
        """Return what the atoms of linked conditions about a column say of a row of one table; None without atoms."""
        atoms = self._find(side, self.linked.atoms.get(position, ()))
        template = "release/compare/release_query_signature.sql"
        return Raw(expression(template, self.dialect, atoms=atoms)) if atoms else None

    def _count(self, name: str, side: Side, keys: Sequence[Resolved | Raw], conditions: Sequence[str]) -> Relation:
        """Count the rows of a side by key and condition, and keep them under a name."""
        statement = self.bench.over_tables(
            "compare/release_query_rows",
            self.step,
            keys=keys,
            conditions=self._find(side, conditions),
            summed=self._find(side, [self.query.summed])[0] if self.query.summed else None,
            source=side.opened,
        )
        columns = [(f"k{position}", "VARCHAR") for position, _ in enumerate(keys, 1)]
        return self.bench.count(name, statement, [*columns, *_COUNTS])

    def _met(self, shares: Sequence[Relation], released: Relation) -> Relation | None:
        """The combinations of signatures for which the linked conditions hold."""
        parts, linked = self.parts, self.linked
        if not linked.formulas:
            return None
        sources = zip(parts.places, shares, strict=True)
        columns_by_position = {position: (source, "x") for position, source in sources if position in linked.places}
        columns_by_position[OTHERS] = released, f"k{len(self.tables.covered) + len(parts.further) + 1}"
        occurring = {}
        for position, (source, column) in columns_by_position.items():
            source_column = {"source": source, "column": column}
            rows = self.bench.ask("compare/release_query_occurring", "linked conditions", **source_column)
            occurring[position] = [int(x) for (x,) in rows]
        columns = [*((f"x{position}", "BIGINT") for position in linked.places), ("others", "BIGINT")]
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

    def _words(self, position: int) -> Relation:
        """The values of a column that a query asks for."""
        signed, allowed = position in self.linked.places, None
        if signed or position in self.parts.conditions:
            statement = self.bench.over_tables(
                "compare/release_query_allowed",
                self.step,
                signature=self._signature(self.original, position),
                source=self.original.opened,
                conditions=self._find(self.original, self.parts.conditions.get(position, ())),
                **self._column(position),
            )
            columns = [("key", "VARCHAR"), ("x", "VARCHAR")]
            allowed = self.bench.count(f"allowed_{position}", statement, columns if signed else columns[:1])
        return self.bench.make(
            f"asked_words_{position}",
            "compare/release_query_words",
            "values that a query asks for",
            words=self.tables.covered[position - 1].column.words.relation,
            allowed=allowed,
            grouped=position in self.parts.grouped,
            signed=signed,
            float=self._is_float(position),
        )

    def _reach(self, position: int, shares: Relation) -> Relation:
        """The shares of a column's cells, with none for cells that satisfy the query only by values that no original
        row has. A group is a value of the original, so this is about conditions alone."""
        signed, bench = position in self.linked.places, self.bench
        if not (signed or position in self.parts.conditions) or position in self.parts.grouped:
            return shares
        rows = bench.ask(
            "compare/release_query_unreached",
            self.step,
            readings=bench.kept[f"readings_{position}"],
            shares=shares,
            everything=signed,
            limit=MOST_CELLS,
        )
        if not rows:
            return shares
        reader = reader_of(self.tables.covered[position - 1].column.words, bench.workbench)
        cells: dict[int, Cell] = {}
        for code, text, reading, level in rows:
            cell = AnyValue() if reading == "all" else reader.read(text, level)  # those are read so already
            if cell is not None:
                cells[int(code)] = cell
        can = [
            (code, signature)
            for signature, values in self._satisfying(position, reader, cells.values()).items()
            for code, cell in cells.items()
            if can_satisfy(cell, values, reader)
        ]
        if not can:
            return shares
        codes = bench.rows(f"can_{position}", [("code", "INTEGER"), ("x", "BIGINT")], can)
        relations = {"shares": shares, "can": codes, "signed": signed}
        step = "cells that can satisfy a query"
        return bench.make(f"reached_{position}", "compare/release_query_reached", step, **relations)

    def _satisfying(self, position: int, reader: CellReader, cells: Collection[Cell]) -> dict[int, list[Tried]]:
        """Return the tried values that satisfy the conditions on a column, by signature (0 without one)."""
        conditions = self.parts.conditions.get(position, [])
        tried = tried_values([*conditions, *self.linked.atoms.get(position, ())], self.dialect, reader, cells)
        column = find_column(self.tables.covered[position - 1].column.label, self.original.opened)
        if not tried or column is None:
            return {}
        statement = self.bench.over_tables(
            "compare/release_query_tried",
            self.step,
            column=quote(column.name, "duckdb"),
            type=TYPES[reader.kind],
            tried=[Raw(exp.Literal.string(value.key).sql(dialect=self.dialect)) for value in tried],
            conditions=self._find(self.original, conditions),
            signature=self._signature(self.original, position),
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
    attribute, has_regions = next(iter(tables.coded.sensitive), None), tables.regions is not None
    ranges = random_ranges(queries, seed, domains_of(tables.covered))
    answers = answers_of(tables, ranges, attribute, random_lanes(attribute, queries, seed))
    errors: dict[str, list[float]] = {name: [] for name in METHODS if has_regions or name != METHODS[1]}
    answered = dict.fromkeys(errors, 0)
    for truth, *answered_by_method in answers:
        for name, answer in zip(METHODS, answered_by_method, strict=True):
            if name in errors and truth:
                errors[name].append(abs(answer - truth) / truth)
            elif name in errors:
                answered[name] += bool(answer)
    empty = sum(not truth for truth, *_ in answers)
    of = {name: Errors.of(method_errors) for name, method_errors in errors.items()}
    return Workload(queries, empty, seed, of, "" if has_regions else NO_REGIONS, answered)


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
    bench, regions = tables.bench, tables.regions
    places = [covered_column.column.place for covered_column in tables.covered]
    source, classes = (
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
    parameters: dict[str, object] = {"homes": None, "inside": None, "regions": None, "disjoint": False}
    if regions is not None:
        parameters = {"inside": regions.inside, "disjoint": regions.disjoint}
        step, homes = "rows for queries", {"tuples": regions.tuples, "placed": regions.places, "places": places}
        parameters["homes"] = bench.make("asked_homes", "compare/release_asked_homes", step, **homes, **parameters)
        parameters["regions"] = regions.table
    columns = [
        {"cover": covered_column.cover, "cells": covered_column.cells, "words": covered_column.column.words.relation}
        for covered_column in tables.covered
    ]
    asked_queries = [{"parts": query.parts(), "lane": lane} for query, lane in zip(queries, lanes, strict=True)]
    answers: list[tuple[float, ...]] = []
    for start in range(0, len(asked_queries), AT_ONCE):
        parameters["queries"] = asked_queries[start : start + AT_ONCE]
        parameters["shares"] = bench.make(
            "asked_shares",
            "compare/release_asked_shares",
            "shares of cells",
            queries=parameters["queries"],
            columns=columns,
        )
        rows = bench.ask("compare/release_asked", "random queries", source=source, classes=classes, **parameters)
        answers += [tuple(float(value or 0) for value in row[1:]) for row in rows]
    bench.forget("asked_rows", "asked_classes", "asked_shares", "asked_homes")
    return answers
