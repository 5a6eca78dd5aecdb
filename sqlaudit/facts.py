"""Class facts: what models ask of the equivalence classes, computed together in the database.

Models name facts; `ClassHistogram` knows the classes of one table for one sensitive attribute, in one of the physical
forms, and turns facts into statements. One scan of the table makes the classes; everything else reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sqlaudit.cells import LongCells, PackedCells
from sqlaudit.disclosure.signatures import Signatures
from sqlaudit.engines.base import Engine, Row, Statement
from sqlaudit.result import FailingClass
from sqlaudit.spec import NullPolicy
from sqlaudit.sql import Raw, render

PACKED_VALUES = 48
"""Up to this many sensitive values a class is one count vector; beyond, a list of cells."""
SAMPLE = 200_000
"""Rows looked at to guess how wide lanes must be."""
_WORDS = {"duckdb": ("HUGEINT", 126), "postgres": ("INTEGER", 60), "spark": ("BIGINT", 62)}


@dataclass(frozen=True)
class Fact:
    """A fact of a class: a macro of `_facts.sql` with whole-number arguments, under a column name of its own.

    `shown`: whether it says something to a person who reads about a failing class.
    """

    name: str
    macro: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    shown: bool = True


@dataclass(frozen=True)
class Level:
    """A number that a model reports: `MIN` or `MAX` over the classes of an expression over facts."""

    fold: str
    expression: str


@dataclass(frozen=True)
class SensitiveTable:
    """A sensitive attribute over the whole table.

    `totals[i]` is n(s) of the value in lane i (rows, or persons with it); lanes are ranks. `values` are read only
    when a model needs them, and never leave for a report. NULL is the last lane when `has_null`.
    """

    name: str
    totals: tuple[int, ...]
    has_null: bool
    ordered: bool
    text: bool
    values: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def total(self) -> int:
        """N: rows, or (person, value) pairs."""
        return sum(self.totals)

    @property
    def distinct(self) -> int:
        """How many values, NULL included."""
        return len(self.totals)


@dataclass(frozen=True)
class Packing:
    """Which lane lies where: words of (lane, shift) pairs, and the lanes' width in bits."""

    words: tuple[tuple[tuple[int, int], ...], ...]
    bits: int
    word_type: str

    @classmethod
    def plan(cls, lanes: int, largest: int, dialect: str, most: int = 0) -> Packing:
        """Lanes wide enough for counts up to `largest`, as many a word as fit.

        No count exceeds `most`: where that is more than `largest` guesses, a word still never overflows, so that a
        wrong guess is found out afterwards instead of ending in an error.
        """
        word_type, capacity = _WORDS[dialect]
        bits = 30 if dialect == "postgres" and largest < 2**30 else max(1, largest.bit_length())
        per_word = 1 + max(0, capacity - max(bits, most.bit_length())) // bits
        chunks = [range(start, min(start + per_word, lanes)) for start in range(0, lanes, per_word)]
        words = tuple(tuple((lane, place * bits) for place, lane in enumerate(chunk)) for chunk in chunks)
        return cls(words, bits, word_type)

    def weights_of(self, lane: int) -> list[int]:
        """The weight of a lane in each word."""
        return [2 ** dict(word)[lane] if lane in dict(word) else 0 for word in self.words]


@dataclass(frozen=True)
class Frame:
    """The table as a histogram sees it: a FROM item and the expressions of the key, in the engine's dialect.

    `solo`: a row with a NULL in its key is a class of its own. `collated`: whether each key is a column of text.
    `sensitive` is the sensitive attribute's expression, None when there is none.
    """

    source: str
    keys: tuple[str, ...]
    entity: str | None
    solo: bool
    collated: tuple[bool, ...] = ()
    sensitive: str | None = None


@dataclass(frozen=True)
class ClassHistogram:
    """The classes of one table for one sensitive attribute (or none), as a relation that facts are computed from.

    Args:
        classes: a FROM item of the classes (a temporary relation, or the statement that makes them).
        totals: a FROM item of (lane, s, total); empty when no sensitive attribute.
        form: `packed`, `cells`, or `wildcard` (cells of what each pattern of keys matches, with its key).
    """

    engine: Engine
    table: SensitiveTable | None
    classes: str
    totals: str
    form: str

    @property
    def lane_count(self) -> int:
        """The number of lanes."""
        return self.table.distinct if self.table else 0

    def statement(self, template: str, facts: Sequence[Fact], step: str, **parameters: Any) -> Statement:
        """A statement over the class facts."""
        packed = self.form == "packed" or self.table is None
        dialect = self.engine.dialect
        totals = self.table.totals if self.table else ()
        return render(
            template,
            dialect,
            step=step,
            classes=Raw(self.classes),
            totals=Raw(self.totals) if self.totals else "",
            facts=list(facts),
            cells=PackedCells(dialect, totals) if packed else LongCells(dialect),
            form="packed" if packed else "cells",
            total=self.table.total if self.table else 0,
            **parameters,
        )

    def figures(
        self, facts: Sequence[Fact], levels: Sequence[tuple[str, str, str]], verdicts: Sequence[tuple[str, str, str]]
    ) -> list[dict[str, Any]]:
        """The figures of all models, one row a distinct class size."""
        step = f"figures of {self.table.name}" if self.table else "class sizes"
        statement = self.statement("figures.sql", facts, step, levels=list(levels), verdicts=list(verdicts))
        names = ["size", "classes", "table_rows", *(name for name, _, _ in levels)]
        for name, _, doubtful in verdicts:
            names += [f"{name}_classes", f"{name}_rows"] + ([f"{name}_doubtful"] if doubtful else [])
        return [dict(zip(names, row, strict=True)) for row in self.engine.run(statement)]

    def histogram(self, facts: Sequence[Fact], condition: str = "", limit: int | None = None) -> list[Row]:
        """(facts…, classes, rows) for every combination of the facts that occurs, or for `limit` of them."""
        names = [fact.name for fact in facts]
        parameters = {"names": names, "condition": condition, "limit": limit}
        return self.engine.run(self.statement("fact_histogram.sql", facts, "histogram of facts", **parameters))

    def vectors(self, facts: Sequence[Fact], condition: str, limit: int) -> list[tuple[dict[int, int], int, int]]:
        """({lane: count}, classes, rows) of the classes that satisfy a condition, merged when equal."""
        columns = ", ".join(f"c{lane}" for lane in range(self.lane_count))
        statement = self.statement(
            "count_vectors.sql", facts, "classes at a limit",
            condition=condition, limit=limit, lane_columns=columns, lane_count=self.lane_count,
        )  # fmt: skip
        return [(self._vector(row), int(row[-2]), int(row[-1])) for row in self.engine.run(statement)]

    def signatures(self, knowledge: int) -> Signatures:
        """The distinct signatures of the classes, for up to `knowledge` pieces of knowledge."""
        if not self.lane_count:
            return Signatures.from_rows([], knowledge)
        depth = min(knowledge + 1, self.lane_count)
        fact = Fact("top_counts", "top", {"count": depth})
        statement = self.statement("signatures.sql", [fact], "signatures", depth=depth)
        n, *counts, classes = self.engine.columns_as_arrays(statement).values()
        absent = [np.zeros_like(n)] * (knowledge + 1 - depth)
        return Signatures.from_columns([n, *counts, *absent, classes])

    def failing(
        self,
        predicates: Sequence[tuple[str, str]],
        facts: Sequence[Fact],
        keys: Sequence[str],
        limit: int | None,
        collated: Sequence[bool] = (),
    ) -> tuple[list[FailingClass], int]:
        """The classes that any of the predicates names, smallest first, and how many there are.

        `keys` are labels for q1, q2, …; `collated` says which of these are text, ordered by code point everywhere.
        """
        statement = self._failing_statement(predicates, facts, keys, None if limit is None else max(1, limit), collated)
        rows = self.engine.run(statement)
        total = int(rows[0][-1]) if rows else 0
        return [self._failing_class(row[:-1], predicates, facts, keys) for row in rows[:limit]], total

    def stream_failing(
        self,
        predicates: Sequence[tuple[str, str]],
        facts: Sequence[Fact],
        keys: Sequence[str],
        collated: Sequence[bool] = (),
    ) -> Iterator[FailingClass]:
        """All classes that any of the predicates names, read in batches, for an export."""
        for batch in self.engine.stream(self._failing_statement(predicates, facts, keys, None, collated)):
            for row in batch:
                yield self._failing_class(row[:-1], predicates, facts, keys)

    def _failing_statement(
        self,
        predicates: Sequence[tuple[str, str]],
        facts: Sequence[Fact],
        keys: Sequence[str],
        limit: int | None,
        collated: Sequence[bool],
    ) -> Statement:
        key_names = [f"q{position}" for position, _ in enumerate(keys, 1)]
        named = [(f"fails_{position}", predicate) for position, (_, predicate) in enumerate(predicates)]
        return self.statement(
            "failing_classes.sql", facts, "failing classes",
            key_names=key_names, collated=list(collated), keep=", ".join(key_names),
            names=[fact.name for fact in facts],
            predicates=named, condition=" OR ".join(f"({predicate})" for _, predicate in named),
            limit=limit,
        )  # fmt: skip

    def _failing_class(
        self, row: Row, predicates: Sequence[tuple[str, str]], facts: Sequence[Fact], keys: Sequence[str]
    ) -> FailingClass:
        at = len(keys)
        size, classes, table_rows = (int(value) for value in row[at : at + 3])
        figures = {fact.name: value for fact, value in zip(facts, row[at + 3 :], strict=False) if fact.shown}
        broken = row[at + 3 + len(facts) :]
        return FailingClass(
            size=size,
            rows=table_rows // classes,
            figures={name: _plain_number(value) for name, value in figures.items()},
            fails=tuple(text for (text, _), fails in zip(predicates, broken, strict=True) if fails),
            sensitive=self.table.name if self.table else None,
            key=dict(zip(keys, row, strict=False)) if keys else None,
            classes=classes,
        )

    def _vector(self, row: Row) -> dict[int, int]:
        if self.form == "packed":
            return {lane: int(count) for lane, count in enumerate(row[:-2]) if count}
        pairs = (pair.split(":") for pair in row[0].split(","))
        return {int(lane): int(count) for lane, count in pairs}


@dataclass(frozen=True)
class HistogramBuilder:
    """Makes class histograms over one frame, in a session (temporary relations) or standalone."""

    engine: Engine
    frame: Frame
    nulls: NullPolicy = NullPolicy.EQUAL
    part: int = 0
    """Which of several histograms of a session this is; each keeps relations of its own."""

    def shape(self, sensitive: str | None) -> tuple[int, int, int, int]:
        """(distinct values, NULL rows, rows, rows without entity) of a sensitive expression."""
        row = self.engine.run(
            render("totals_shape.sql", self.engine.dialect, step="sensitive values", **self._target(sensitive))
        )[0]
        return int(row[0]), int(row[1]), int(row[2]), int(row[3])

    def totals(self, sensitive: str, text: bool) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """(values, totals) by rank; NULL last."""
        rows = self.engine.run(self._totals_statement(sensitive, text))
        return tuple(row[1] for row in rows), tuple(int(row[2]) for row in rows)

    def persons_in_several_places(self, sensitive: str) -> int:
        """How many persons lie in more than one class or have more than one value of a sensitive expression."""
        statement = render(
            "entities_in_several_places.sql", self.engine.dialect, step="persons in several places",
            keys=[Raw(key) for key in self.frame.keys], **self._target(sensitive),
        )  # fmt: skip
        return int(self.engine.run(statement)[0][0])

    def build(self, sensitive: str | None, table: SensitiveTable | None, *, keep_keys: bool = False) -> ClassHistogram:
        """The classes for one sensitive expression; `keep_keys` keeps them apart with their keys q1, q2, …"""
        wildcard = self.nulls is NullPolicy.WILDCARD
        packed = not wildcard and (table is None or table.distinct <= PACKED_VALUES)
        totals = ""
        if not packed and table is not None and sensitive is not None:
            totals = self._relation(self._name("totals"), self._totals_statement(sensitive, table.text))
        if wildcard:
            return ClassHistogram(self.engine, table, self._wildcard_relation(sensitive, table), totals, "wildcard")
        if packed:
            classes = self._packed_relation(sensitive, table, keep_keys)
        else:
            classes = self._numbered(self._name("keyed" if keep_keys else "classes"), sensitive, table, keep_keys)
        return ClassHistogram(self.engine, table, classes, totals, "packed" if packed else "cells")

    def _wildcard_relation(self, sensitive: str | None, table: SensitiveTable | None) -> str:
        """What each pattern of keys matches, with its key; kept even where lists of cells are not: dear to make."""
        return self._relation(self._name("classes"), self._wildcard(sensitive, table))

    def _wildcard(self, sensitive: str | None, table: SensitiveTable | None) -> Statement:
        return render(
            "classes_wildcard.sql", self.engine.dialect, step="rows that match",
            null_lane=table.distinct - 1 if table and table.has_null else 0,
            text=table is not None and table.text, keys=[Raw(key) for key in self.frame.keys],
            **self._target(sensitive),
        )  # fmt: skip

    def _numbered(self, name: str, sensitive: str | None, table: SensitiveTable | None, keep_keys: bool) -> str:
        """Cells with a number for each class; a kept relation numbers its rows itself, and in parallel."""
        if not self.engine.can_materialize:
            return _inlined(self._cells(sensitive, table, keep_keys, number=True))
        kept = self._relation(name, self._cells(sensitive, table, keep_keys, number=False))
        return _inlined(render("numbered.sql", self.engine.dialect, classes=Raw(kept)))

    def _packed_relation(self, sensitive: str | None, table: SensitiveTable | None, keep_keys: bool) -> str:
        """Count vectors in lanes as narrow as a sample suggests; in wide ones when a class turns out too large.

        No count exceeds the size of its class, so lanes hold when the largest class fits.
        """
        name = self._name("keyed" if keep_keys else "classes")
        widest = max(table.totals, default=1) if table else 1
        guess = self._guess(table)
        if guess < widest:
            classes = self._relation(name, self._packed(sensitive, table, keep_keys, guess))
            rows = self.engine.run(render("largest_class.sql", self.engine.dialect, classes=Raw(classes)))
            if (rows[0][0] or 0) <= guess:
                return classes
        return self._relation(name, self._packed(sensitive, table, keep_keys, widest))

    def _guess(self, table: SensitiveTable | None) -> int:
        """A count that no class is likely to exceed; the number of rows when guessing is not worth while."""
        rows = table.total if table else 0
        if not self.engine.can_materialize or rows < 10 * SAMPLE or not self.frame.keys or table is None:
            return rows
        keys = [Raw(key) for key in self.frame.keys]
        statement = render(
            "largest_class_of_sample.sql", self.engine.dialect, source=Raw(self.frame.source), keys=keys, sample=SAMPLE
        )
        largest = int(self.engine.run(statement)[0][0] or 1)
        return int(2 ** (2 * largest * rows // SAMPLE).bit_length() - 1)

    def plan(self, sensitive: str | None) -> list[Statement]:
        """The statements known before anything has run: the table's values, and the classes with their cells."""
        wildcard = self.nulls is NullPolicy.WILDCARD
        if sensitive is None:
            return [self._wildcard(None, None) if wildcard else self._packed(None, None, False, 1)]
        table = SensitiveTable("", (), True, True, False)
        made = self._wildcard(sensitive, table) if wildcard else self._cells(sensitive, table, False, number=True)
        return [self._totals_statement(sensitive, False), made]

    def _packed(self, sensitive: str | None, table: SensitiveTable | None, keep_keys: bool, largest: int) -> Statement:
        most = max(table.totals, default=1) if table else 1
        packing = Packing.plan(table.distinct if table else 0, largest, self.engine.dialect, most)
        has_null = table is not None and table.has_null
        return render(
            "classes_packed.sql", self.engine.dialect, step="equivalence classes",
            words=packing.words, mask=2**packing.bits - 1, word_type=packing.word_type, has_null=has_null,
            null_weights=packing.weights_of(table.distinct - 1) if table and has_null else [],
            text=table is not None and table.text, keep_keys=keep_keys,
            **self._target(sensitive), **self._key(),
        )  # fmt: skip

    def _cells(
        self, sensitive: str | None, table: SensitiveTable | None, keep_keys: bool, *, number: bool
    ) -> Statement:
        return render(
            "classes_cells.sql", self.engine.dialect, step="equivalence classes",
            null_lane=table.distinct - 1 if table and table.has_null else 0,
            text=table is not None and table.text, keep_keys=keep_keys, number=number,
            **self._target(sensitive), **self._key(),
        )  # fmt: skip

    def _totals_statement(self, sensitive: str, text: bool) -> Statement:
        return render("totals.sql", self.engine.dialect, step="sensitive values", text=text, **self._target(sensitive))

    def _target(self, sensitive: str | None) -> dict[str, Any]:
        entity = self.frame.entity
        return {
            "source": Raw(self.frame.source),
            "sensitive": None if sensitive is None else Raw(sensitive),
            "entity": None if entity is None else Raw(entity),
        }

    def _key(self) -> dict[str, Any]:
        return {"keys": [Raw(key) for key in self.frame.keys], "solo": self.frame.solo and bool(self.frame.keys)}

    def _name(self, kind: str) -> str:
        return f"sqlaudit_{kind}" + (f"_{self.part}" if self.part else "")

    def _relation(self, name: str, statement: Statement) -> str:
        """The statement's result as a FROM item: kept for the session where the engine can, else inlined."""
        if self.engine.can_materialize:
            return self.engine.materialize(name, statement).sql
        return _inlined(statement)


def _inlined(statement: Statement) -> str:
    """A statement as a FROM item; lists of cells are read once, and cost more to keep than to make."""
    return "(" + statement.sql + ")"


def _plain_number(value: Any) -> int | float | None:
    if value is None or isinstance(value, int | float):
        return value
    return int(value) if value == int(value) else float(value)
