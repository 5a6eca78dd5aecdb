"""Aggregate queries asked of the original and of the release: what is a release still good for? (Thesis 2.5 and 4.3)

A released row counts for a query: 1 when its cells can satisfy it (non-corrected), the share of the original rows in
the region of its class that satisfy it (corrected by conditional probability), or the product over the columns of the
shares under its cells (independently corrected). A cell can satisfy a condition by a value that no original row has.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sqlaudit.base.columns_of import find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.classes.opening import MAX_VALUES_READ
from sqlaudit.hierarchies.cell_reader import CellReader, reader_of
from sqlaudit.hierarchies.cells import AnyValue, Cell
from sqlaudit.release.compare.answer_shares import Between, Distributed, equally_far, in_lanes
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import CodedPair, PairedAttribute, packed
from sqlaudit.release.compare.covers import MOST_CELLS, Covered
from sqlaudit.release.compare.distances import groups_of
from sqlaudit.release.compare.linked import OTHERS
from sqlaudit.release.compare.pairing import Side
from sqlaudit.release.compare.query_answers import answer_of
from sqlaudit.release.compare.query_parts import QueryParts, parts_of, place_of
from sqlaudit.release.compare.query_text import AggregateQuery
from sqlaudit.release.compare.regions import Regions
from sqlaudit.release.compare.result import QueryAnswer
from sqlaudit.release.compare.satisfying import TYPES, Tried, can_satisfy, tried_values

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
        read = {int(code): _read(reader, text, reading, level) for code, text, reading, level in rows}
        cells = {code: cell for code, cell in read.items() if cell is not None}
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


def _read(reader: CellReader, text: str | None, reading: str, level: int | None) -> Cell | None:
    """What a cell stands for; what may be anything is read so already."""
    return AnyValue() if reading == "all" else reader.read(text, level)
