"""Aggregate queries, given or drawn at random, asked of the original and of the release."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from sqlaudit.base.columns_of import find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Relation, Row
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.classes.opening import MAX_VALUES_READ
from sqlaudit.hierarchies.cell_reader import CellReader, reader_of
from sqlaudit.hierarchies.cells import AnyValue, Cell
from sqlaudit.models.measures import RangeQuery, random_ranges
from sqlaudit.release.compare.coding import (
    MOST_CELLS,
    CodedPair,
    Covered,
    PairedAttribute,
    domains_of,
    groups_of,
    packed,
)
from sqlaudit.release.compare.pairing import Bench, Side
from sqlaudit.release.compare.query_text import (
    OTHERS,
    TYPES,
    AggregateQuery,
    QueryParts,
    Tried,
    can_satisfy,
    parts_of,
    place_of,
    tried_values,
)
from sqlaudit.release.compare.regions import Regions
from sqlaudit.release.compare.result import METHODS, AnswerDistance, Errors, Group, QueryAnswer, Workload
from sqlaudit.release.losses import NO_REGIONS

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


def in_lanes(lanes: Mapping[str | None, int], groups: Sequence[Sequence[int]], weights: Sequence[float]) -> Between:
    """A distance that is a weighted sum over groups of lanes of differences.

    Args:
        lanes: the lane of each value by its text. groups: lanes. weights: one for each group.
    """

    def between(one: Shares, other: Shares) -> float:
        moved = {lane: one.get(text, 0.0) - other.get(text, 0.0) for text, lane in lanes.items()}
        return sum(
            weight * abs(sum(moved.get(lane, 0.0) for lane in group))
            for group, weight in zip(groups, weights, strict=True)
        )

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
        counts: dict[str, list[float | None]] = {ORIGINAL: [groups[number].truth for number in numbers]}
        counts |= {name: [groups[number].answers[name] for number in numbers] for name in METHODS}
        shares = {name: _shares(column) for name, column in counts.items()}
        for place, number in enumerate(numbers):
            groups[number] = replace(groups[number], shares={name: column[place] for name, column in shares.items()})
        values = [found[number][0][of.place] for number in numbers]
        named = groups[numbers[0]].key is not None
        distances.append(AnswerDistance(_distances(values, shares, of), rest if named else None))
    return groups, distances


def _shares(counts: Sequence[float | None]) -> list[float | None]:
    """Of their sum; None where nothing is counted, or nothing could be."""
    whole = sum(count or 0.0 for count in counts)
    return [None if count is None or not whole else count / whole for count in counts]


def _distances(
    values: Sequence[str | None], shares: Mapping[str, Sequence[float | None]], of: Distributed
) -> dict[str, float | None]:
    """From the original's distribution to that of each method; None where one of them selects nothing."""
    found = {
        name: {value: share for value, share in zip(values, column, strict=True) if share is not None}
        for name, column in shares.items()
    }
    own = found[ORIGINAL]
    return {name: of.between(own, found[name]) if own and found[name] else None for name in METHODS}


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
    for row in rows:
        *key, truth, plain, by_region, independent = row
        answers = (plain, by_region if conditional else None, independent)
        named = tuple(key) if show_values and key else None
        found.append((tuple(key), Group(truth, dict(zip(METHODS, answers, strict=True)), named)))
    groups = [group for _, group in found]
    distances: list[AnswerDistance] = []
    if distributed is not None:
        groups, distances = as_distribution(found, distributed)
    errors = {name: Errors.of(relative_errors(groups, name)) for name in METHODS if conditional or name != METHODS[1]}
    shown = _in_order(groups, query)[:SHOWN_GROUPS]
    return QueryAnswer(
        query.number,
        query.aggregate,
        tuple(shown),
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


def _in_order(groups: Sequence[Group], query: AggregateQuery) -> Sequence[Group]:
    """Groups without their keys come by their answers, so that their place does not give a key away."""
    if not query.groups or any(group.key for group in groups):
        return groups
    return sorted(groups, key=lambda group: tuple(-(value or 0.0) for value in (group.truth, *group.answers.values())))


# Aggregate queries asked of the original and of the release: what is a release still good for? (Thesis 2.5 and 4.3)
#
# A released row counts for a query: 1 when its cells can satisfy it (non-corrected), the share of the original rows in
# the region of its class that satisfy it (corrected by conditional probability), or the product over the columns of the
# shares under its cells (independently corrected). A cell can satisfy a condition by a value that no original row has.

MOST_GROUPS = 100_000
_COUNTS = [("n", "BIGINT"), ("total", "DOUBLE"), ("present", "BIGINT")]


@dataclass(frozen=True)
class QueriedTables:
    """Both tables, for queries."""

    bench: Bench
    coded: CodedPair
    covered: tuple[Covered, ...]
    regions: Regions | None
    original: Side
    release: Side
    show_values: bool = False
    distance: str = "equal"
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, query: AggregateQuery) -> QueryAnswer:
        """One query on both tables.

        Raises:
            UsageError: columns that are not there, conditions that mix quasi-identifiers, or too many groups.
        """
        parts = parts_of(query, self.covered, self.original, self.bench.engine.dialect)
        truth = self._truth(query, parts)
        released = self._released(query, parts)
        words = [self._words(query, parts, place) for place in parts.places]
        shares = [
            self.bench.make(
                f"shares_{place}",
                "release/compare/release_query_shares.sql",
                "shares of cells",
                cover=self.covered[place - 1].cover,
                cells=self.covered[place - 1].cells,
                words=one,
                signed=place in parts.linked_places,
            )
            for place, one in zip(parts.places, words, strict=True)
        ]
        shares = [self._reached(query, parts, place, one) for place, one in zip(parts.places, shares, strict=True)]
        inside = self._inside(parts, words)
        rows = self.bench.ask(
            "release/compare/release_query_answers.sql",
            f"query {query.number}",
            aggregate=query.aggregate,
            all_cells=[one.column.cells for one in self.covered],
            cell_key=packed([(f"g{one.column.place}", one.column.cell_count) for one in self.covered]),
            released=released,
            truth=truth,
            places_of=list(parts.places),
            shares=shares,
            inside=inside,
            grouped=list(parts.grouped),
            floats=[self._is_float(place) for place in parts.grouped],
            grouped_words=[self.covered[place - 1].column.words.relation for place in parts.grouped],
            further=list(range(1, len(parts.further) + 1)),
            linked=list(parts.linked_places),
            met=self._met(query, parts, shares, released),
            limit=MOST_GROUPS + 1,
        )
        if len(rows) > MOST_GROUPS:
            raise UsageError(f"{query.option}: has more than {MOST_GROUPS:,} groups.")
        conditional = bool(inside) or not parts.places
        return answer_of(query, rows, self._distributed(query), conditional=conditional, show_values=self.show_values)

    def _distributed(self, query: AggregateQuery) -> Distributed | None:
        """The column whose values a counting query distributes: a sensitive one, else the last that it groups by."""
        if query.aggregate != "COUNT" or not query.groups:
            return None
        opened = self.original.opened
        columns = sorted(query.groups, key=lambda name: place_of(name, self.covered, self.original) is None)
        by_column = {find_column(one.label, opened): one for one in self.coded.sensitive}
        places = [place for place, name in enumerate(columns) if find_column(name, opened) in by_column]
        place = places[-1] if places else len(columns) - 1
        if not places:
            return Distributed(columns[place], place, equally_far)
        return Distributed(columns[place], place, self._between(by_column[find_column(columns[place], opened)]))

    def _between(self, attribute: PairedAttribute) -> Between:
        """The distance that was asked for, between shares of the values of a sensitive attribute."""
        groups, weight = groups_of(attribute, self.distance, self.inputs)
        rows = self.bench.ask(
            "release/compare/release_lane_rows.sql",
            f"values of {attribute.label}",
            lanes=attribute.lanes,
            limit=MAX_VALUES_READ,
        )
        lanes = {text: lane for lane, (_, text, _) in enumerate(rows)}
        return in_lanes(lanes, groups, [float(weight)] * len(groups))

    def _sql(self, side: Side, text: str, query: AggregateQuery) -> Raw:
        return Raw(resolve(text, side.opened, self.bench.engine.dialect, query.option).sql)

    def _is_float(self, place: int) -> bool:
        return self.covered[place - 1].column.kind is Kind.FLOAT

    def _truth(self, query: AggregateQuery, parts: QueryParts) -> Relation:
        side = self.original
        keys = [self._key(query, place) for place in parts.grouped] + [
            self._sql(side, name, query) for name in parts.further
        ]
        conditions = [self._sql(side, text, query) for text in query.conditions]
        return self._counted("query_truth", side, query, keys, conditions)

    def _key(self, query: AggregateQuery, place: int) -> Raw:
        """A quasi-identifier of the original by its key, as its dictionary spells it."""
        column = self.covered[place - 1].column
        value = self._sql(self.original, column.label, query)
        return Raw(
            expression(
                "release/compare/release_query_key.sql", self.bench.engine.dialect, column=value, kind=column.kind.value
            )
        )

    def _released(self, query: AggregateQuery, parts: QueryParts) -> Relation:
        side = self.release
        keys = [self._sql(side, one.column.label, query) for one in self.covered]
        keys += [self._sql(side, name, query) for name in parts.further]
        if parts.linked is not None:
            others = parts.linked.atoms.get(OTHERS, ())
            keys.append(self._signature(side, others, query) if others else Raw("0"))
        conditions = [self._sql(side, text, query) for text in parts.elsewhere]
        return self._counted("query_released", side, query, keys, conditions)

    def _signature(self, side: Side, atoms: Sequence[str], query: AggregateQuery) -> Raw:
        """What the atoms of linked conditions say of a row of one table."""
        found = [self._sql(side, text, query) for text in atoms]
        return Raw(expression("release/compare/release_query_signature.sql", self.bench.engine.dialect, atoms=found))

    def _met(
        self, query: AggregateQuery, parts: QueryParts, shares: Sequence[Relation], released: Relation
    ) -> Relation | None:
        """The combinations of signatures for which the linked conditions hold."""
        if parts.linked is None:
            return None
        others = f"k{len(self.covered) + len(parts.further) + 1}"
        sources = {place: (one, "x") for place, one in zip(parts.places, shares, strict=True)}
        asked = {place: sources[place] for place in parts.linked.places} | {OTHERS: (released, others)}
        occurring = {
            place: [
                int(x)
                for (x,) in self.bench.ask(
                    "release/compare/release_query_occurring.sql", "linked conditions", source=source, column=column
                )
            ]
            for place, (source, column) in asked.items()
        }
        columns = [*((f"x{place}", "BIGINT") for place in parts.linked.places), ("others", "BIGINT")]
        return self.bench.rows("query_met", columns, parts.linked.met(occurring, query.option))

    def _counted(
        self, name: str, side: Side, query: AggregateQuery, keys: Sequence[Raw], conditions: Sequence[Raw]
    ) -> Relation:
        summed = self._sql(side, query.summed, query) if query.summed else None
        statement = render(
            "release/compare/release_query_rows.sql",
            self.bench.engine.dialect,
            step=f"query {query.number}",
            keys=list(keys),
            conditions=list(conditions),
            summed=summed,
            source=Raw(side.opened.sql),
        )
        columns = [(f"k{place}", "VARCHAR") for place, _ in enumerate(keys, 1)]
        return self.bench.count(name, statement, [*columns, *_COUNTS])

    def _words(self, query: AggregateQuery, parts: QueryParts, place: int) -> Relation:
        """The values of a column that a query asks for."""
        column = self.covered[place - 1].column
        allowed = None
        if parts.linked is not None and place in parts.linked.places:
            statement = render(
                "release/compare/release_query_signed.sql",
                self.bench.engine.dialect,
                step=f"query {query.number}",
                column=self._sql(self.original, column.label, query),
                kind=column.kind.value,
                signature=self._signature(self.original, parts.linked.atoms[place], query),
                source=Raw(self.original.opened.sql),
                conditions=[self._sql(self.original, text, query) for text in parts.conditions.get(place, ())],
            )
            allowed = self.bench.count(f"allowed_{place}", statement, [("key", "VARCHAR"), ("x", "VARCHAR")])
        elif place in parts.conditions:
            statement = render(
                "release/compare/release_query_allowed.sql",
                self.bench.engine.dialect,
                step=f"query {query.number}",
                column=self._sql(self.original, column.label, query),
                kind=column.kind.value,
                source=Raw(self.original.opened.sql),
                conditions=[self._sql(self.original, text, query) for text in parts.conditions[place]],
            )
            allowed = self.bench.count(f"allowed_{place}", statement, [("key", "VARCHAR")])
        return self.bench.make(
            f"asked_words_{place}",
            "release/compare/release_query_words.sql",
            "values that a query asks for",
            words=column.words.relation,
            allowed=allowed,
            grouped=place in parts.grouped,
            signed=place in parts.linked_places,
            float=self._is_float(place),
        )

    def _reached(self, query: AggregateQuery, parts: QueryParts, place: int, shares: Relation) -> Relation:
        """The shares of a column's cells, with none for cells that satisfy the query only by values that no original
        row has. A group is a value of the original, so this is about conditions alone."""
        signed = place in parts.linked_places
        if not (signed or place in parts.conditions) or place in parts.grouped:
            return shares
        column = self.covered[place - 1].column
        rows = self.bench.ask(
            "release/compare/release_query_unreached.sql",
            f"query {query.number}",
            readings=self.bench.kept[f"readings_{place}"],
            shares=shares,
            everything=signed,
            limit=MOST_CELLS,
        )
        reader = reader_of(column.words, self.bench.workbench) if rows else None
        if reader is None:
            return shares
        cells: dict[int, Cell] = {}
        for code, text, reading, level in rows:
            cell = AnyValue() if reading == "all" else reader.read(text, level)  # those are read so already
            if cell is not None:
                cells[int(code)] = cell
        satisfying = self._satisfying(query, parts, place, reader, cells.values())
        can = [
            (code, signature)
            for signature, some in satisfying.items()
            for code, cell in cells.items()
            if can_satisfy(cell, some, reader)
        ]
        if not can:
            return shares
        codes = self.bench.rows(f"can_{place}", [("code", "INTEGER"), ("x", "BIGINT")], can)
        return self.bench.make(
            f"reached_{place}",
            "release/compare/release_query_reached.sql",
            "cells that can satisfy a query",
            shares=shares,
            can=codes,
            signed=signed,
        )

    def _satisfying(
        self, query: AggregateQuery, parts: QueryParts, place: int, reader: CellReader, cells: Collection[Cell]
    ) -> dict[int, list[Tried]]:
        """Of the values that are tried those that satisfy the conditions on a column, by signature (0 without one)."""
        dialect, column = self.bench.engine.dialect, self.covered[place - 1].column
        conditions = parts.conditions.get(place, [])
        atoms = parts.linked.atoms.get(place, ()) if parts.linked is not None else ()
        tried = tried_values([*conditions, *atoms], dialect, reader, cells)
        found = find_column(column.label, self.original.opened)
        if not tried or found is None:
            return {}
        statement = render(
            "release/compare/release_query_tried.sql",
            dialect,
            step=f"query {query.number}",
            column=quote(found.name, "duckdb"),
            type=TYPES[reader.kind],
            tried=[Raw(exp.Literal.string(one.key).sql(dialect=dialect)) for one in tried],
            conditions=[self._sql(self.original, text, query) for text in conditions],
            signature=self._signature(self.original, atoms, query) if atoms else None,
        )
        satisfying: dict[int, list[Tried]] = {}
        for number, *signature in self.bench.engine.run(statement):
            satisfying.setdefault(int(signature[0]) if signature else 0, []).append(tried[int(number)])
        return satisfying

    def _inside(self, parts: QueryParts, words: Sequence[Relation]) -> Relation | None:
        regions = self.regions
        if regions is None or not parts.places:
            return None
        return self.bench.make(
            "query_inside",
            "release/compare/release_query_inside.sql",
            "shares of regions",
            places_of=list(parts.places),
            words=list(words),
            linked=list(parts.linked_places),
            tuples=regions.tuples,
            places=regions.places,
            inside=regions.inside,
            regions=regions.table,
        )


# A seeded random workload of counting queries: ranges of quasi-identifiers in the order of their values, and a
# sensitive value if there is one.

_AT_ONCE = 50


def random_workload(
    bench: Bench, coded: CodedPair, covered: Sequence[Covered], regions: Regions | None, queries: int, seed: int
) -> Workload:
    """Relative errors of random queries: COUNT(*) over ranges of a random number of quasi-identifiers.

    With a sensitive attribute (the first one) each query also asks for one of its values, drawn by its frequency.
    """
    attribute = coded.sensitive[0] if coded.sensitive else None
    asked = random_ranges(queries, seed, domains_of(covered))
    lanes = random_lanes(attribute, queries, seed)
    answers = answers_of(bench, coded, covered, regions, asked, attribute, lanes)
    errors: dict[str, list[float]] = {name: [] for name in METHODS if regions is not None or name != METHODS[1]}
    for truth, *found in answers:
        for name, answer in zip(METHODS, found, strict=True):
            if truth and name in errors:
                errors[name].append(abs(answer - truth) / truth)
    nothing = [found for truth, *found in answers if not truth]
    answered = {
        name: sum(bool(found[place]) for found in nothing) for place, name in enumerate(METHODS) if name in errors
    }
    return Workload(
        queries,
        len(nothing),
        seed,
        {name: Errors.of(found) for name, found in errors.items()},
        "" if regions is not None else NO_REGIONS,
        answered,
    )


def random_lanes(attribute: PairedAttribute | None, queries: int, seed: int) -> list[int | None]:
    """For each query a sensitive value, drawn by its frequency in the original."""
    if attribute is None or not attribute.table.total:
        return [None] * queries
    generator = random.Random(f"{seed} values")
    return list(generator.choices(range(attribute.table.distinct), attribute.table.totals, k=queries))


def answers_of(
    bench: Bench,
    coded: CodedPair,
    covered: Sequence[Covered],
    regions: Regions | None,
    queries: Sequence[RangeQuery],
    attribute: PairedAttribute | None,
    lanes: Sequence[int | None],
) -> list[tuple[float, ...]]:
    """(truth, non-corrected, by conditional probability, independently corrected) of each query.

    Without regions the answer by conditional probability is 0 everywhere.
    """
    places = [one.column.place for one in covered]
    own, other = (f"s{attribute.place}", f"z{attribute.place}") if attribute else ("", "")
    source = bench.make(
        "asked_rows",
        "release/compare/release_asked_rows.sql",
        "rows for queries",
        source=coded.original,
        lane=own,
        places=places,
    )
    held = bench.make(
        "asked_classes",
        "release/compare/release_asked_classes.sql",
        "classes for queries",
        source=coded.release,
        lane=other,
        places=places,
    )
    homes = None
    if regions is not None:
        homes = bench.make(
            "asked_homes",
            "release/compare/release_asked_homes.sql",
            "rows for queries",
            tuples=regions.tuples,
            placed=regions.places,
            inside=regions.inside,
            places=places,
            disjoint=regions.disjoint,
        )
    found: list[tuple[float, ...]] = []
    for start in range(0, len(queries), _AT_ONCE):
        some = [
            {"parts": query.parts(), "lane": lane}
            for query, lane in zip(queries[start : start + _AT_ONCE], lanes[start : start + _AT_ONCE], strict=True)
        ]
        shares = bench.make(
            "asked_shares",
            "release/compare/release_asked_shares.sql",
            "shares of cells",
            queries=some,
            columns=[{"cover": one.cover, "cells": one.cells, "words": one.column.words.relation} for one in covered],
        )
        rows = bench.ask(
            "release/compare/release_asked.sql",
            "random queries",
            queries=some,
            source=source,
            classes=held,
            shares=shares,
            homes=homes,
            inside=None if regions is None else regions.inside,
            regions=None if regions is None else regions.table,
            disjoint=regions is not None and regions.disjoint,
        )
        found += [tuple(float(value or 0) for value in row[1:]) for row in rows]
    bench.forget("asked_rows", "asked_classes", "asked_shares", "asked_homes")
    return found
