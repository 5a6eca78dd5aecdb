"""From a table to its class histogram: which physical form, how values are packed, and what is kept for the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlaudit.base.dialects import spoken
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame, SensitiveTable
from sqlaudit.classes.parts import Share, shares_of
from sqlaudit.engines.contract import Engine

PACKED_VALUES = 48
"""Up to this many sensitive values a class is one count vector; beyond, a list of cells."""
SAMPLE = 1_000_000
"""Rows looked at to guess how wide lanes must be."""


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
        wrong guess is found out afterwards instead of ending in an error; and the words are filled, since wider lanes
        in as many words cost nothing.
        """
        found = spoken(dialect)
        bits = max(found.lane_bits, largest.bit_length())
        per_word = 1 + max(0, found.word_bits - max(bits, most.bit_length())) // bits
        if bits < most.bit_length() and lanes:
            per_word = -(-lanes // -(-lanes // per_word))
            room = (found.word_bits - most.bit_length()) // (per_word - 1) if per_word > 1 else most.bit_length()
            bits = max(bits, min(most.bit_length(), room))
        chunks = [range(start, min(start + per_word, lanes)) for start in range(0, lanes, per_word)]
        words = tuple(tuple((lane, place * bits) for place, lane in enumerate(chunk)) for chunk in chunks)
        return cls(words, bits, found.word)

    @property
    def capacity(self) -> int:
        """The largest count that a lane holds."""
        return int(2**self.bits - 1)

    def weights_of(self, lane: int) -> list[int]:
        """The weight of a lane in each word."""
        return [2 ** dict(word)[lane] if lane in dict(word) else 0 for word in self.words]


@dataclass(frozen=True)
class HistogramBuilder:
    """Makes class histograms over one frame, in a session (temporary relations) or standalone."""

    engine: Engine
    frame: Frame
    nulls: NullPolicy = NullPolicy.EQUAL
    part: int = 0
    """Which of several histograms of a session this is; each keeps relations of its own."""
    lanes: str = ""
    """A FROM item of the sensitive values with their lanes that are kept (`with_lanes`); empty where none are."""

    def shape(self, sensitive: str | None) -> tuple[int, int, int, int]:
        """(distinct values, NULL rows, rows, rows without entity) of a sensitive expression."""
        row = self.engine.run(
            render("classes/totals_shape.sql", self.engine.dialect, step="sensitive values", **self._target(sensitive))
        )[0]
        return int(row[0]), int(row[1]), int(row[2]), int(row[3])

    def values(self, sensitive: str, text: bool, most: int) -> list[Row]:
        """(value, total, rows that are NULL, rows without entity) of each value by rank, NULL last; `most` at most."""
        kept = self.lanes
        made = (
            render("classes/values_kept.sql", self.engine.dialect, step="sensitive values", kept_lanes=Raw(kept))
            if kept
            else self._values_statement(sensitive, text, most)
        )
        return [row[1:] for row in self.engine.run(made)]

    def with_lanes(self, text: bool, most: int) -> HistogramBuilder:
        """The builder with the sensitive values kept, so that no later statement counts them again; the builder as it
        is where keeping costs more than counting."""
        sensitive = self.frame.sensitive
        if sensitive is None or not self.engine.numbers_rows:
            return self
        return replace(self, lanes=self._relation(self._name("totals"), self._values_statement(sensitive, text, most)))

    def persons_in_several_places(self, sensitive: str) -> int:
        """How many persons lie in more than one class or have more than one value of a sensitive expression."""
        statement = render(
            "classes/entities_in_several_places.sql",
            self.engine.dialect,
            step="persons in several places",
            keys=[Raw(key) for key in self.frame.keys],
            **self._target(sensitive),
        )
        return int(self.engine.run(statement)[0][0])

    def combinations_statement(self) -> Statement:
        """(persons, those of them with more than one combination of the quasi-identifiers)."""
        keys = [Raw(key) for key in self.frame.keys]
        return render(
            "classes/entities_in_several_classes.sql",
            self.engine.dialect,
            step="persons with several combinations",
            keys=keys,
            **self._target(None),
        )

    def build(self, sensitive: str | None, table: SensitiveTable | None, *, keep_keys: bool = False) -> ClassHistogram:
        """The classes for one sensitive expression; `keep_keys` keeps them apart with their keys q1, q2, …"""
        wildcard = self.nulls is NullPolicy.WILDCARD
        packed = not wildcard and (table is None or table.distinct <= PACKED_VALUES)
        totals = ""
        if not packed and table is not None and sensitive is not None:
            made = self._totals_statement(sensitive, table.text)
            totals = self.lanes or self._relation(self._name("totals"), made)
        if wildcard:
            return ClassHistogram(self.engine, table, self._wildcard_relation(sensitive, table), totals, "wildcard")
        coded = None if packed or keep_keys else self._coded(table, totals)
        if coded is not None:
            return coded
        if packed:
            classes = self._packed_relation(sensitive, table, keep_keys)
        else:
            classes = self._numbered(self._name("keyed" if keep_keys else "classes"), sensitive, table, keep_keys)
        return ClassHistogram(self.engine, table, classes, totals, "packed" if packed else "cells")

    def keep_facts(self, histogram: ClassHistogram, facts: Sequence[Fact]) -> ClassHistogram:
        """The histogram with facts that several statements read, computed once where that unfolds lists of cells."""
        if histogram.form != "cells" or not self.engine.numbers_rows:
            return histogram
        if histogram.cells:
            from sqlaudit.classes.coded import with_facts

            return with_facts(histogram, facts, self._name("facts"))
        statement = histogram.statement("classes/facts.sql", facts, "facts of classes", once=True)
        return replace(histogram, kept=self._relation(self._name("facts"), statement), kept_facts=tuple(facts))

    def standalone(self, sensitive: str | None, table: SensitiveTable | None) -> ClassHistogram:
        """The classes with their keys as one statement that keeps nothing and counts anew whenever it runs.

        Lanes are numbered when it runs; only the totals of the table, which some facts compare with, are those of now.
        """
        if table is None or sensitive is None:
            packed = self._packed(None, None, True, self._packing(None, 1))
            return ClassHistogram(self.engine, None, _inlined(packed), "", "packed")
        totals = _inlined(self._totals_statement(sensitive, table.text))
        return ClassHistogram(
            self.engine, table, _inlined(self._cells(sensitive, table, True, number=True)), totals, "cells"
        )

    def _coded(self, table: SensitiveTable | None, totals: str) -> ClassHistogram | None:
        """The classes as cells under one number each; None where the key has no such numbers, or the memory no room."""
        if table is None or not self.engine.can_materialize or shares_of(self.engine, self.frame, table.total):
            return None
        from sqlaudit.classes.coded import classes_of_cells, coded_cells, coding_of

        coding = coding_of(self.engine, self.frame, table)
        cells = coding and coded_cells(self.engine, self.frame, table, coding, totals, self._name("cells"))
        if not cells:
            return None
        classes = classes_of_cells(self.engine, cells)
        return ClassHistogram(self.engine, table, classes, totals, "cells", cells=cells)

    def _wildcard_relation(self, sensitive: str | None, table: SensitiveTable | None) -> str:
        """What each pattern of keys matches, with its key; kept even where lists of cells are not: dear to make."""
        return self._relation(self._name("classes"), self._wildcard(sensitive, table))

    def _wildcard(self, sensitive: str | None, table: SensitiveTable | None) -> Statement:
        return render(
            "classes/classes_wildcard.sql",
            self.engine.dialect,
            step="rows that match",
            null_lane=table.distinct - 1 if table and table.has_null else 0,
            text=table is not None and table.text,
            keys=[Raw(key) for key in self.frame.keys],
            **self._target(sensitive),
        )

    def _numbered(self, name: str, sensitive: str | None, table: SensitiveTable | None, keep_keys: bool) -> str:
        """Cells with a number for each class; a kept relation numbers its rows itself, and in parallel."""
        if not self.engine.can_materialize:
            return _inlined(self._cells(sensitive, table, keep_keys, number=True))
        if not self.engine.numbers_rows:
            return self._relation(name, self._cells(sensitive, table, keep_keys, number=True))
        kept = self._in_parts(name, table, lambda share: self._cells(sensitive, table, keep_keys, share=share))
        return _inlined(render("classes/numbered.sql", self.engine.dialect, classes=Raw(kept)))

    def _packed_relation(self, sensitive: str | None, table: SensitiveTable | None, keep_keys: bool) -> str:
        """Count vectors in lanes as narrow as a sample suggests; classes that turn out too large for these are counted
        again, alone and in wide ones.

        No count exceeds the size of its class, so lanes hold when the largest class fits.
        """
        name = self._name("keyed" if keep_keys else "classes")
        widest = max(table.totals, default=1) if table else 1
        packing = self._packing(table, min(self._guess(table), widest))
        classes = self._in_parts(name, table, lambda share: self._packed(sensitive, table, keep_keys, packing, share))
        if packing.capacity >= widest:
            return classes
        lost = self.engine.run(
            render("classes/rows_above.sql", self.engine.dialect, classes=Raw(classes), most=packing.capacity)
        )
        if not lost[0][0]:
            return classes
        wide = self._packing(table, widest)
        if 2 * int(lost[0][0]) > (table.total if table else 0):  # to pick so many rows costs more than to take all
            return self._in_parts(name, table, lambda share: self._packed(sensitive, table, keep_keys, wide, share))
        counted = (classes, packing.capacity)
        whole = self._relation(f"{name}_whole", self._packed(sensitive, table, keep_keys, wide, counted=counted))
        self.engine.drop(name)
        return whole

    def _packing(self, table: SensitiveTable | None, largest: int) -> Packing:
        most = max(table.totals, default=1) if table else 1
        return Packing.plan(table.distinct if table else 0, largest, self.engine.dialect, most)

    def _guess(self, table: SensitiveTable | None) -> int:
        """A count that no class is likely to exceed; the number of rows when guessing is not worth while."""
        rows = table.total if table else 0
        if not self.engine.can_materialize or rows < 4 * SAMPLE or not self.frame.keys or table is None:
            return rows
        share = -(-100 * SAMPLE // rows)
        statement = render(
            "classes/largest_class_of_sample.sql",
            self.engine.dialect,
            source=Raw(self.frame.source),
            keys=[Raw(key) for key in self.frame.keys],
            share=share,
        )
        largest = int(self.engine.run(statement)[0][0] or 1)
        return int(2 ** (largest * 100 // share).bit_length() - 1)

    def plan(self, sensitive: str | None) -> list[Statement]:
        """The statements known before anything has run: the table's values, and the classes with their cells."""
        wildcard = self.nulls is NullPolicy.WILDCARD
        if sensitive is None:
            made = self._wildcard(None, None) if wildcard else self._packed(None, None, False, self._packing(None, 1))
            return [made]
        table = SensitiveTable("", (), True, True, False)
        made = self._wildcard(sensitive, table) if wildcard else self._cells(sensitive, table, False, number=True)
        return [self._totals_statement(sensitive, False), made]

    def _packed(
        self,
        sensitive: str | None,
        table: SensitiveTable | None,
        keep_keys: bool,
        packing: Packing,
        share: Share | None = None,
        counted: tuple[str, int] = ("", 0),
    ) -> Statement:
        has_null = table is not None and table.has_null
        return render(
            "classes/classes_packed.sql",
            self.engine.dialect,
            step="equivalence classes",
            words=packing.words,
            mask=packing.capacity,
            counted=Raw(counted[0]) if counted[0] else None,
            most=counted[1],
            share=share,
            kept_lanes=self._kept_lanes(share),
            word_type=packing.word_type,
            has_null=has_null,
            null_weights=packing.weights_of(table.distinct - 1) if table and has_null else [],
            text=table is not None and table.text,
            keep_keys=keep_keys,
            **self._target(sensitive),
            **self._key(),
        )

    def _cells(
        self,
        sensitive: str | None,
        table: SensitiveTable | None,
        keep_keys: bool,
        *,
        number: bool = False,
        share: Share | None = None,
    ) -> Statement:
        return render(
            "classes/classes_cells.sql",
            self.engine.dialect,
            step="equivalence classes",
            null_lane=table.distinct - 1 if table and table.has_null else 0,
            text=table is not None and table.text,
            keep_keys=keep_keys,
            number=number,
            share=share,
            kept_lanes=self._kept_lanes(share),
            **self._target(sensitive),
            **self._key(),
        )

    def _kept_lanes(self, share: Share | None) -> Raw | None:
        kept = share.lanes if share else self.lanes
        return Raw(kept) if kept else None

    def _values_statement(self, sensitive: str, text: bool, most: int) -> Statement:
        return render(
            "classes/values_counted.sql",
            self.engine.dialect,
            step="sensitive values",
            text=text,
            most=most,
            **self._target(sensitive),
        )

    def _totals_statement(self, sensitive: str, text: bool) -> Statement:
        return render(
            "classes/totals.sql", self.engine.dialect, step="sensitive values", text=text, **self._target(sensitive)
        )

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

    def _in_parts(self, name: str, table: SensitiveTable | None, made: Callable[[Share | None], Statement]) -> str:
        """The classes as a relation that is kept, made in as many parts as the memory asks for."""
        shares = shares_of(self.engine, self.frame, table.total if table else 0)
        if not shares or table is None or self.frame.sensitive is None:
            return self._relation(name, made(None))
        totals = self._totals_statement(self.frame.sensitive, table.text)
        lanes = self.lanes or self._relation(f"{name}_lanes", totals)
        kept = self._relation(name, made(replace(shares[0], lanes=lanes)))
        for share in shares[1:]:
            self.engine.extend(name, made(replace(share, lanes=lanes)))
        return kept

    def _relation(self, name: str, statement: Statement) -> str:
        """The statement's result as a FROM item: kept for the session where the engine can, else inlined."""
        if self.engine.can_materialize:
            return self.engine.materialize(name, statement).sql
        return _inlined(statement)


def _inlined(statement: Statement) -> str:
    """A statement as a FROM item; lists of cells are read once, and cost more to keep than to make."""
    return "(" + statement.sql + ")"
