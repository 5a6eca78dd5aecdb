"""From a table to its class histogram: which physical form, how values are packed, and what is kept for the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import spoken
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame, SensitiveTable
from sqlaudit.engines.contract import Engine

# Classes counted in parts that fit the memory, where all of them together would be spilled to disk.
#
# What DuckDB spills here is encrypted, by a cipher in software that costs several times what counting does. To read the
# rows once more for each part is cheaper.

A_CLASS = 500
"""Bytes of a class while it is counted: keys of numbers spilled at 160 and no longer at 330, on two threads."""
MOST_PARTS = 24
"""Beyond so many parts, reading the rows again costs as much as spilling."""


@dataclass(frozen=True)
class Share:
    """One part of the classes: those whose key has a hash, or whose missing values a number, with this remainder.

    Args:
        places: those of the columns that are hashed, from 1 on. parts: how many parts. part: which, from 0 on.
        lanes: a FROM item of (lane, s, total), which all parts read.
    """

    places: tuple[int, ...]
    parts: int
    part: int
    lanes: str = ""


def shares_of(engine: Engine, frame: Frame, rows: int) -> tuple[Share, ...]:
    """The parts that classes are counted in; none where all fit the memory at once, or cannot be parted.

    Args:
        rows: how many rows the table has, or persons with their values.
    """
    memory, hashed = engine.memory(), tuple(place for place, safe in enumerate(frame.hashed, 1) if safe)
    if memory is None or not hashed or rows * A_CLASS <= memory:
        return ()
    groups = rows
    if frame.entity is None:
        about = render("classes/classes_about.sql", engine.dialect, step="number of classes", **frame.parameters())
        groups = int(engine.run(about)[0][0])
    parts = min(MOST_PARTS, -(-groups * A_CLASS // memory))
    return tuple(Share(hashed, parts, part) for part in range(parts)) if parts > 1 else ()


OFFERED = 2_000_000
"""Cells that are offered to patterns in one statement, at most: more take memory, fewer take statements."""
AN_OFFER = 200
"""Bytes of a cell while it is offered."""
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
        distinct, nulls, rows, without = self.engine.run(self._render("totals_shape", "sensitive values", sensitive))[0]
        return int(distinct), int(nulls), int(rows), int(without)

    def values(self, sensitive: str, text: bool, most: int) -> list[Row]:
        """(value, total, rows that are NULL, rows without entity) of each value by rank, NULL last; `most` at most."""
        template = "values_kept" if self.lanes else "values_counted"
        given = {"text": text, "most": most, "kept_lanes": Raw(self.lanes)}
        return [row[1:] for row in self.engine.run(self._render(template, "sensitive values", sensitive, **given))]

    def with_lanes(self, text: bool, most: int) -> HistogramBuilder:
        """The builder with the sensitive values kept, so that no later statement counts them again; the builder as it
        is where keeping costs more than counting."""
        sensitive = self.frame.sensitive
        if sensitive is None or not self.engine.numbers_rows:
            return self
        made = self._render("values_counted", "sensitive values", sensitive, text=text, most=most)
        return replace(self, lanes=self._relation(self._name("totals"), made))

    def persons_in_several_places(self, sensitive: str) -> int:
        """How many persons lie in more than one class or have more than one value of a sensitive expression."""
        statement = self._render("entities_in_several_places", "people in several groups", sensitive)
        return int(self.engine.run(statement)[0][0])

    def combinations_statement(self) -> Statement:
        """(persons, those of them with more than one combination of the quasi-identifiers)."""
        return self._render("entities_in_several_classes", "people with several combinations", None)

    def build(self, sensitive: str | None, table: SensitiveTable | None, *, keep_keys: bool = False) -> ClassHistogram:
        """The classes for one sensitive expression; `keep_keys` keeps them apart with their keys q1, q2, …"""
        wildcard = self.nulls is NullPolicy.WILDCARD
        packed = not wildcard and (table is None or table.distinct <= PACKED_VALUES)
        totals = ""
        if not packed and table is not None and sensitive is not None:
            made = self._totals_statement(sensitive, table.text)
            totals = self.lanes or self._relation(self._name("totals"), made)
        if wildcard:
            classes = self._matched(sensitive, table)
            return ClassHistogram(self.engine, table, classes, totals, "wildcard")
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
            kept = facts_of_cells(histogram, facts, self._name("facts"))
        else:
            statement = histogram.statement("classes/facts.sql", facts, "facts of classes", once=True)
            kept = self._relation(self._name("facts"), statement)
        return replace(histogram, kept=kept, kept_facts=tuple(facts))

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
        coding = coding_of(self.engine, self.frame, table)
        cells = coding and coded_cells(self.engine, self.frame, table, coding, totals, self._name("cells"))
        if not cells:
            return None
        # Lists of the cells are made when they are read
        classes = _inlined(render("classes/classes_of_cells.sql", self.engine.dialect, cells=Raw(cells)))
        return ClassHistogram(self.engine, table, classes, totals, "cells", cells=cells)

    def _wildcard(
        self, sensitive: str | None, table: SensitiveTable | None, kept: str = "", share: Share | None = None
    ) -> Statement:
        """What each pattern of keys matches, with its key."""
        given = {"kept": Raw(kept) if kept else None, "share": share, **_lanes_of(table)}
        part = f", part {share.part + 1} of {share.parts}" if share and share.parts > 1 else ""
        return self._render("classes_wildcard", "matching rows" + part, sensitive, **given)

    def _matched(self, sensitive: str | None, table: SensitiveTable | None) -> str:
        """What each pattern matches as a relation, made in parts where memory is ours to keep within bounds."""
        name, memory = self._name("classes"), self.engine.memory()
        if memory is None:
            return self._relation(name, self._wildcard(sensitive, table))
        coded = self._render("wildcard_coded", "missing values", sensitive, **_lanes_of(table))
        kept = self._relation(f"{name}_coded", coded)
        size = self.engine.run(render("classes/wildcard_size.sql", self.engine.dialect, coded=Raw(kept)))
        cells, masks = (int(figure) for figure in size[0])
        parts = min(masks, 1 + cells * masks // min(OFFERED, memory // AN_OFFER)) or 1
        for part in range(parts):
            statement = self._wildcard(sensitive, table, kept, Share((), parts, part))
            if part:
                self.engine.extend(name, statement)
            else:
                classes = self.engine.materialize(name, statement).sql
        self.engine.drop(f"{name}_coded")
        return classes

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
        statement = self._render("largest_class_of_sample", "", None, share=share)
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
        return self._render(
            "classes_packed",
            "equivalence classes",
            sensitive,
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
        return self._render(
            "classes_cells",
            "equivalence classes",
            sensitive,
            keep_keys=keep_keys,
            number=number,
            share=share,
            kept_lanes=self._kept_lanes(share),
            **_lanes_of(table),
        )

    def _kept_lanes(self, share: Share | None) -> Raw | None:
        kept = share.lanes if share else self.lanes
        return Raw(kept) if kept else None

    def _totals_statement(self, sensitive: str, text: bool) -> Statement:
        return self._render("totals", "sensitive values", sensitive, text=text)

    def _render(self, template: str, step: str, sensitive: str | None, **parameters: Any) -> Statement:
        """A statement over the rows of the frame."""
        given = replace(self.frame, sensitive=sensitive).parameters()
        return render(f"classes/{template}.sql", self.engine.dialect, step=step, **given, **parameters)

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


def _lanes_of(table: SensitiveTable | None) -> dict[str, Any]:
    """What the making of cells has to know of the sensitive values."""
    null_lane = table.distinct - 1 if table and table.has_null else 0
    return {"null_lane": null_lane, "text": table is not None and table.text}


def _inlined(statement: Statement) -> str:
    """A statement as a FROM item; lists of cells are read once, and cost more to keep than to make."""
    return "(" + statement.sql + ")"


# Cells of classes under one number each, and facts of classes straight from them.
#
# Where there are hundreds of sensitive values and millions of classes, a GROUP BY of several columns, a list of cells
# for each class and unfolding these lists again cost more than the rest together. The columns of the key become codes
# side by side in one number, the lane behind them; the cells are kept in the order of these numbers, and facts are
# aggregated from them. Lists are made only where somebody asks for them.
#
# Most facts need nothing but the cells. Distances from the table need the size of the class as well, which no cell
# knows before all are counted. But in a small class every value that occurs is more frequent than in the table, and
# then the distance follows from how frequent these are there: `n total - n (their rows in the table)`, twice. Classes
# of which that is not certain are looked at apart.

CODED_ROWS = 1_000_000
"""From so many rows on, codes are worth the statements that they need."""
MOST_LISTED = 100_000
"""A column that has more values, and no whole numbers, is not coded: its dictionary would cost too much."""
_BITS = 62
_LARGEST = 2**61
_SMALL = 2**31
_COUNTS = frozenset(
    [
        "distinct_values",
        "largest",
        "smallest",
        "head",
        "members",
        "largest_of",
        "smallest_of",
        "largest_set",
        "head_of_sets",
    ]
)
"""Facts that are aggregates of the cells alone, and no more than the rows of the class."""
_EARLY = _COUNTS | frozenset(
    [
        "top",
        "count_log_count",
        "presence",
        "last_place",
        "first_place",
        "last_lane",
        "first_lane",
        "largest_lift",
        "smallest_lift",
    ]
)
"""Facts that are aggregates of the cells alone."""
_LEAST_LIFT = Fact("smallest_lift", "smallest_lift")
_GAP, _BOUND = "equal_distance", "gains_above_log"


Code: TypeAlias = "tuple[int, int, int | None, bool]"
"""(place, bits, smallest value, whether there are NULLs) of a column; without a smallest value, codes come from a
dictionary."""


@dataclass(frozen=True)
class Coding:
    """How the columns of a key become one number with the lane, which has so many bits."""

    codes: tuple[Code, ...]
    lane_bits: int


def coding_of(engine: Engine, frame: Frame, table: SensitiveTable) -> Coding | None:
    """The coding of a key; None where it does not fit a number, or brings nothing."""
    wanted = engine.numbers_rows and table.total >= CODED_ROWS and frame.keys
    if not wanted or frame.entity is not None or frame.solo or len(frame.whole) != len(frame.keys):
        return None
    given = {**frame.parameters(), "wholes": frame.whole}
    row = engine.run(render("classes/key_shapes.sql", engine.dialect, step="widths of keys", **given))[0]
    codes = [_code(place + 1, whole, *row[3 * place : 3 * place + 3]) for place, whole in enumerate(frame.whole)]
    lane_bits = max(1, (table.distinct - 1).bit_length())
    known = tuple(code for code in codes if code is not None)
    if len(known) < len(codes) or lane_bits + sum(code[1] for code in known) > _BITS:
        return None
    return Coding(known, lane_bits)


def _code(place: int, whole: bool, low: int | None, high: int | None, nulls: int) -> Code | None:
    """The code of a column from its smallest and largest number, or about how many other values it has."""
    low, high = int(low or 0), int(high or 0)
    if whole:
        fits = low > -_LARGEST and high < _LARGEST
        return (place, (high - low + 1).bit_length(), low, nulls > 0) if fits else None
    return (place, (high + high // 4 + 16).bit_length(), None, nulls > 0) if high <= MOST_LISTED else None


def coded_cells(
    engine: Engine, frame: Frame, table: SensitiveTable, coding: Coding, lanes: str, name: str
) -> str | None:
    """A FROM item of cells (id, lane, c) that are kept by this name; None where not every row has a code.

    Args:
        lanes: a FROM item of (lane, s, total).
    """
    statement = render(
        "classes/cells_coded.sql",
        engine.dialect,
        step="equivalence classes",
        **frame.parameters(),
        kept_lanes=Raw(lanes),
        codes=coding.codes,
        lane_bits=coding.lane_bits,
        null_lane=table.distinct - 1 if table.has_null else None,
    )
    kept = engine.materialize(name, statement).sql
    found = engine.run(render("classes/cells_found.sql", engine.dialect, step="cells found", cells=Raw(kept)))
    if int(found[0][0]) != table.total:
        engine.drop(name)
        return None
    return kept


def facts_of_cells(histogram: ClassHistogram, facts: Sequence[Fact], name: str) -> str:
    """A FROM item of facts of classes, of which what costs something is kept under this name, `…_apart`, `…_every`."""
    late = [fact for fact in facts if fact.macro not in _EARLY]
    asked = {fact.macro for fact in late}
    early = [fact for fact in facts if fact.macro in _EARLY]
    early += [_LEAST_LIFT] if _GAP in asked and _LEAST_LIFT not in early else []
    total = histogram.table.total if histogram.table else 0

    def kept_as(name: str, template: str, facts: Sequence[Fact], step: str, **given: Any) -> str:
        made = histogram.statement(f"classes/{template}.sql", facts, step, cells=Raw(histogram.cells), **given)
        return histogram.engine.materialize(name, made).sql

    known = kept_as(
        name,
        "facts_of_cells",
        early,
        "facts of classes",
        gap=_GAP in asked,
        bound=_BOUND in asked,
        all_occur=True,
        counts=sorted(_COUNTS),
        whole="INTEGER" if total < _SMALL else "BIGINT",
    )
    # Which classes must be looked at apart; in doubt, which floating point leaves, they are
    doubtful = [f"n >= (1 - 1e-9) * {total} * smallest_lift"] if _GAP in asked else []
    doubtful += [f"ABS(bound * {total} - n) <= 1e-9 * n"] if _BOUND in asked else []
    some = [fact for fact in late if fact.macro in (_GAP, _BOUND)]
    every = [fact for fact in late if fact.macro not in (_GAP, _BOUND, "wide_n")]
    kept: dict[str, Raw | None] = {}
    for place, needed, condition in (("apart", some, " OR ".join(doubtful)), ("every", every, "1 = 1")):
        given = {"known": Raw(known), "condition": condition, **histogram.narrow(needed)}
        step = "facts of separate classes"
        kept[place] = Raw(kept_as(f"{name}_{place}", "facts_apart", needed, step, **given)) if needed else None
    joined = histogram.statement(
        "classes/facts_joined.sql",
        [],
        "facts",
        known=Raw(known),
        early=[(fact.name, fact.macro in _COUNTS) for fact in early],
        late=[(fact.name, fact.macro) for fact in late],
        **kept,
    )
    return _inlined(joined)
