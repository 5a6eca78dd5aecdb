"""From a table to its class histogram: its physical form, the packing of counts, and its relations in the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlaudit.base.errors import EngineError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import spoken
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame, GroupedPeople, SensitiveTable
from sqlaudit.classes.people import group_people
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.document import plural

# Classes counted in parts that fit the memory, where all of them together would be spilled to disk.
#
# DuckDB encrypts its spill files here, with a cipher in software that costs several times what counting does. It is
# cheaper to read the rows once more for each part.

CLASS_BYTES = 500
"""Memory of a class while it is counted: keys of numbers spilled at 160 and no longer at 330, on two threads."""
MAX_PARTS = 24
"""Largest number of parts: beyond it, reading the rows again costs as much as spilling."""


@dataclass(frozen=True)
class ClassPart:
    """One part of the classes: those with this remainder of the hash of their key, or of the number of their pattern.

    Args:
        places: the columns of the key that are hashed, from 1 on.
        parts: the number of parts.
        part: the number of this part, from 0 on.
        lanes: a FROM item of (lane, s, total), which all parts read.
    """

    places: tuple[int, ...]
    parts: int
    part: int
    lanes: str = ""


def split_classes(engine: Engine, frame: Frame, rows: int) -> tuple[ClassPart, ...]:
    """Return the parts that classes are counted in; empty if all fit the memory at once, or no key can be hashed.

    Args:
        engine: the engine, with its memory.
        frame: the table.
        rows: rows of the table, or (person, value) pairs.
    """
    memory, hashed = engine.memory(), tuple(place for place, is_hashed in enumerate(frame.hashed, 1) if is_hashed)
    if memory is None or not hashed or rows * CLASS_BYTES <= memory:
        return ()
    classes = rows
    if frame.entity is None:
        estimate = render("classes/classes_about.sql", engine.dialect, step="number of classes", **frame.parameters())
        classes = int(engine.run(estimate)[0][0])
    parts = min(MAX_PARTS, -(-classes * CLASS_BYTES // memory))
    return tuple(ClassPart(hashed, parts, part) for part in range(parts)) if parts > 1 else ()


MAX_OFFERED_CELLS = 2_000_000
"""Largest number of cells that one statement compares with patterns: more take memory, fewer take statements."""
OFFERED_CELL_BYTES = 200
"""Memory of a cell while it is compared with patterns."""
MAX_MATCHED_CODES = 20_000_000
"""Largest number of codes (cells times columns) that are matched in Python, where each takes about ten bytes."""
PACKED_VALUES = 48
"""Up to this many sensitive values a class is one count vector; beyond, a list of cells."""
MAX_NUMBERS_HANDED_OVER = 20_000_000
"""Largest number of counts that a workbench takes, of eight bytes each: 1.2 million different vectors of 12 values.
They pass through the driver of Spark, which has 1 GB by default."""
SAMPLE_ROWS = 1_000_000
"""Rows of the sample from which the width of lanes is guessed."""


_EXACT_TYPES = frozenset(["string", "tinyint", "smallint", "int", "bigint", "boolean", "date"])
"""Types whose values Python returns to the engine as they came."""


@dataclass(frozen=True)
class Packing:
    """The layout of a count vector.

    Args:
        words: the (lane, shift) pairs of each word.
        bits: the width of a lane.
        word_type: the SQL type of a word.
    """

    words: tuple[tuple[tuple[int, int], ...], ...]
    bits: int
    word_type: str

    @classmethod
    def plan(cls, lanes: int, largest: int, dialect: str, largest_possible: int = 0) -> Packing:
        """Plan lanes for counts up to `largest`, as many in a word as fit.

        Args:
            lanes: the number of lanes.
            largest: the largest count that is expected.
            dialect: the engine's dialect, which decides the type of a word.
            largest_possible: a bound of all counts. If `largest` is a guess below it, a word still never overflows: a
                wrong guess is detected afterwards and is no error. Words are filled, because wider lanes in the same
                number of words cost nothing.
        """
        types, bits_possible = spoken(dialect), largest_possible.bit_length()
        bits = max(types.lane_bits, largest.bit_length())
        per_word = 1 + max(0, types.word_bits - max(bits, bits_possible)) // bits
        if bits < bits_possible and lanes:
            per_word = -(-lanes // -(-lanes // per_word))
            room = (types.word_bits - bits_possible) // (per_word - 1) if per_word > 1 else bits_possible
            bits = max(bits, min(bits_possible, room))
        chunks = [range(start, min(start + per_word, lanes)) for start in range(0, lanes, per_word)]
        words = tuple(tuple((lane, position * bits) for position, lane in enumerate(chunk)) for chunk in chunks)
        return cls(words, bits, types.word)

    @property
    def capacity(self) -> int:
        """The largest count that a lane holds."""
        return int(2**self.bits - 1)

    def weights_of(self, lane: int) -> list[int]:
        """Return the factor of a lane in each word."""
        return [2 ** dict(word)[lane] if lane in dict(word) else 0 for word in self.words]


@dataclass(frozen=True)
class HistogramBuilder:
    """A builder of class histograms over one frame, in a session (temporary relations) or as single statements.

    Args:
        engine: the engine that counts.
        frame: the table.
        nulls: the policy for missing values in keys.
        number: the number of this histogram in the session. Each has relations of its own.
        lanes: a FROM item of the sensitive values with their lanes (`with_lanes`); empty = statements number them.
    """

    engine: Engine
    frame: Frame
    nulls: NullPolicy = NullPolicy.EQUAL
    number: int = 0
    lanes: str = ""

    def shape(self, sensitive: str | None) -> tuple[int, int, int, int]:
        """Return (distinct values, NULL rows, rows, rows without entity) of a sensitive expression."""
        statement = self._render("totals_shape", "sensitive values", sensitive)
        distinct, nulls, rows, without_entity = self.engine.run(statement)[0]
        return int(distinct), int(nulls), int(rows), int(without_entity)

    def values(self, sensitive: str, text: bool, limit: int) -> list[Row]:
        """Return (value, total, rows that are NULL, rows without entity) of each value by rank, NULL last.

        Args:
            sensitive: the expression of the sensitive attribute.
            text: whether its values are text.
            limit: the largest number of values to return.
        """
        template = "values_kept" if self.lanes else "values_counted"
        parameters = {"text": text, "most": limit, "kept_lanes": Raw(self.lanes)}
        return [row[1:] for row in self.engine.run(self._render(template, "sensitive values", sensitive, **parameters))]

    def with_lanes(self, text: bool, limit: int) -> HistogramBuilder:
        """Materialize the sensitive values, so that no later statement counts them again.

        Args:
            text: whether the values are text.
            limit: the largest number of values.

        Returns:
            The builder with the values, or unchanged if materializing costs more than counting.
        """
        sensitive = self.frame.sensitive
        if sensitive is None or not self.engine.numbers_rows:
            return self
        statement = self._render("values_counted", "sensitive values", sensitive, text=text, most=limit)
        return replace(self, lanes=self._materialize(self._relation_name("totals"), statement))

    def with_values(self, table: SensitiveTable | None, type_name: str) -> HistogramBuilder:
        """Give the values that were read back to the engine as data, so that no later statement counts them again.

        Args:
            table: the sensitive attribute over the whole table.
            type_name: its type in the engine.

        Returns:
            The builder with the values, or unchanged if the engine takes none, or not every value of the type exactly.
        """
        if table is None or not table.values or self.lanes or type_name.lower() not in _EXACT_TYPES:
            return self
        columns = [("lane", "BIGINT"), ("s", type_name), ("total", "BIGINT")]
        rows = [(lane, *row) for lane, row in enumerate(zip(table.values, table.totals, strict=True))]
        lanes = self.engine.look_up(self._relation_name("totals"), columns, rows)
        return self if lanes is None else replace(self, lanes=lanes.sql)

    def with_people(self, table: SensitiveTable | None) -> HistogramBuilder:
        """Group the rows by class and person once, if the engine can; values are kept if they are packed later.

        With about one row a person grouping costs more than it saves, and the builder is unchanged.
        """
        if self.frame.entity is None or self.nulls is NullPolicy.WILDCARD or not self.engine.numbers_rows:
            return self
        rows, persons = self.engine.run(self._render("entities_about", "number of people", None))[0]
        if int(persons) * 11 > int(rows) * 10:
            return self
        lanes = self.lanes if table and table.distinct <= PACKED_VALUES else ""
        return replace(self, frame=group_people(self.engine, self.frame, table, lanes))

    def persons_in_several_places(self, sensitive: str) -> int:
        """Return the number of people in several classes or with several values of a sensitive expression."""
        if self.frame.people and self.frame.people.has_values:
            return self.frame.people.in_several_places
        statement = self._render("entities_in_several_places", "people in several groups", sensitive)
        return int(self.engine.run(statement)[0][0])

    def combinations_statement(self) -> Statement:
        """Return the statement of (people, those of them with several combinations of the quasi-identifiers)."""
        return self._render("entities_in_several_classes", "people with several combinations", None)

    def build(self, sensitive: str | None, table: SensitiveTable | None, *, keep_keys: bool = False) -> ClassHistogram:
        """Count the classes for one sensitive expression.

        Args:
            sensitive: the expression; None = only sizes are counted.
            table: the sensitive attribute over the whole table.
            keep_keys: whether classes are separate and have their keys q1, q2, …, else equal ones may be merged.
        """
        wildcard = self.nulls is NullPolicy.WILDCARD
        packed = not wildcard and (table is None or table.distinct <= PACKED_VALUES)
        totals = ""
        if not packed and table is not None and sensitive is not None:
            statement = self._totals_statement(sensitive, table.text)
            totals = self.lanes or self._materialize(self._relation_name("totals"), statement)
        if wildcard:
            classes = self._wildcard_relation(sensitive, table)
            return ClassHistogram(self.engine, table, classes, totals, "wildcard")
        coded = None if packed or keep_keys else self._build_coded(table, totals)
        if coded is not None:
            return coded
        if packed:
            classes = self._packed_relation(sensitive, table, keep_keys)
        else:
            name = self._relation_name("keyed" if keep_keys else "classes")
            classes = self._cells_relation(name, sensitive, table, keep_keys)
        return ClassHistogram(self.engine, table, classes, totals, "packed" if packed else "cells")

    def hand_over(self, sensitive: str | None, table: SensitiveTable | None) -> ClassHistogram | None:
        """Count the classes with one statement, and hand the different count vectors to the engine's workbench.

        What is asked of them there costs the engine nothing. Lanes fit every count, since words are added up faster
        than a sample is read to make them narrow.

        Returns:
            The classes; None if the engine is its own workbench, or if they are no count vectors or too many.

        Raises:
            EngineError: the table has a value that it did not have when its values were read.
        """
        engine, values = self.engine, table.distinct if table else 0
        if engine.own_workbench or self.nulls is NullPolicy.WILDCARD or values > PACKED_VALUES:
            return None
        most = MAX_NUMBERS_HANDED_OVER // (4 + values)
        packing = self._plan_packing(table, max(table.totals, default=1) if table else 1)
        limit = most + 1 if table is None or table.total > most else None
        statement = self._packed_statement(sensitive, table, False, packing, limit=limit)
        name, workbench = self._relation_name("classes"), engine.workbench()
        classes = engine.hand_over(name, statement).sql
        statement = render(
            "classes/vectors_kept.sql",
            workbench.dialect,
            step="number of vectors",
            classes=Raw(classes),
            lane_count=values,
        )
        vectors, without_lane = (int(number) for number in workbench.run(statement)[0])
        if vectors > most:
            workbench.drop(name)
            return None
        if without_lane:
            raise EngineError(
                f"{plural(without_lane, 'row has', 'rows have')} a sensitive value that was not there when the values "
                "were read. The table has changed during the audit. Run it again, or name one version of the table."
            )
        return ClassHistogram(workbench, table, classes, "", "packed", rows_engine=engine)

    def keep_facts(self, histogram: ClassHistogram, facts: Sequence[Fact]) -> ClassHistogram:
        """Materialize facts that several statements read, if computing them unfolds lists of cells.

        Returns:
            The histogram with the facts, or unchanged.
        """
        if histogram.form != "cells" or not self.engine.numbers_rows:
            return histogram
        if histogram.cells:
            relation = materialize_facts_of_cells(histogram, facts, self._relation_name("facts"))
        else:
            statement = histogram.statement("classes/facts.sql", facts, "facts of classes", once=True)
            relation = self._materialize(self._relation_name("facts"), statement)
        return replace(histogram, facts_relation=relation, kept_facts=tuple(facts))

    def standalone(self, sensitive: str | None, table: SensitiveTable | None) -> ClassHistogram:
        """Return the classes with their keys as one statement, which materializes nothing and counts whenever it runs.

        Lanes are numbered when it runs. The totals of the table, which some facts compare with, are fixed in the text.
        """
        if table is None or sensitive is None:
            packed = self._packed_statement(None, None, True, self._plan_packing(None, 1))
            return ClassHistogram(self.engine, None, inline(packed), "", "packed")
        totals = inline(self._totals_statement(sensitive, table.text))
        cells = inline(self._cells_statement(sensitive, table, True, number=True))
        return ClassHistogram(self.engine, table, cells, totals, "cells")

    def _build_coded(self, table: SensitiveTable | None, totals: str) -> ClassHistogram | None:
        """Return the classes as cells under one number each; None if the key has no code, or memory is too small."""
        if table is None or not self.engine.can_materialize or split_classes(self.engine, self.frame, table.total):
            return None
        coding = plan_coding(self.engine, self.frame, table)
        name = self._relation_name("cells")
        cells = coding and materialize_coded_cells(self.engine, self.frame, table, coding, totals, name)
        if not cells:
            return None
        # Lists of the cells are made when they are read
        classes = inline(render("classes/classes_of_cells.sql", self.engine.dialect, cells=Raw(cells)))
        return ClassHistogram(self.engine, table, classes, totals, "cells", cells=cells)

    def _wildcard_statement(
        self, sensitive: str | None, table: SensitiveTable | None, coded: str = "", part: ClassPart | None = None
    ) -> Statement:
        """Return the statement of the cells that each pattern of keys matches, with its key.

        Args:
            sensitive: the expression of the sensitive attribute.
            table: the sensitive attribute over the whole table.
            coded: a FROM item of the materialized cells with codes; empty = there is none.
            part: the part of the patterns; None = all.
        """
        parameters = {"kept": Raw(coded) if coded else None, "cells": None, "share": part, **_lane_parameters(table)}
        suffix = f", part {part.part + 1} of {part.parts}" if part and part.parts > 1 else ""
        return self._render("classes_wildcard", "matching rows" + suffix, sensitive, **parameters)

    def _wildcard_relation(self, sensitive: str | None, table: SensitiveTable | None) -> str:
        """Materialize the cells that each pattern matches, in parts if the engine has a memory limit."""
        name, memory = self._relation_name("classes"), self.engine.memory()
        if memory is None:
            return self._materialize(name, self._wildcard_statement(sensitive, table))
        statement = self._render("wildcard_coded", "missing values", sensitive, **_lane_parameters(table))
        coded = self._materialize(f"{name}_coded", statement)
        size = self.engine.run(render("classes/wildcard_size.sql", self.engine.dialect, coded=Raw(coded)))
        cells, masks = (int(figure) for figure in size[0])
        cells_at_once = min(MAX_OFFERED_CELLS, memory // OFFERED_CELL_BYTES)
        parts = min(masks, 1 + cells * masks // cells_at_once) or 1
        fits = self.frame.entity is None and cells * len(self.frame.keys) <= MAX_MATCHED_CODES
        if fits and parts > 1 and masks > 2:  # joins of two masks take as long
            statements = self._matched_statements(sensitive, coded)
        else:
            split = (ClassPart((), parts, part) for part in range(parts))
            statements = (self._wildcard_statement(sensitive, table, coded, part) for part in split)
        classes = self.engine.materialize(name, next(statements)).sql
        for statement in statements:
            self.engine.extend(name, statement)
        self.engine.drop(f"{name}_coded")
        return classes

    def _matched_statements(self, sensitive: str | None, coded: str) -> Iterator[Statement]:
        """Yield statements of the patterns with the cells that they match, for some patterns each.

        Patterns are matched in Python, by codes and without a value. The next statement replaces the cells of the last.
        """
        from sqlaudit.classes.matching import match_patterns

        step, name = "matching rows", f"{self._relation_name('classes')}_matched"
        statement = self._render("wildcard_cells", "codes of missing values", sensitive, coded=Raw(coded))
        ids, lanes, counts, *codes = self.engine.columns_as_arrays(statement).values()
        for matched in match_patterns(codes, (ids, lanes, counts), lambda: self.engine.report_step(step)):
            cells = self.engine.keep_frame(name, dict(zip(("id", "lane", "c"), matched, strict=True))).sql
            parameters = {"kept": Raw(coded), "cells": Raw(cells), "share": None}
            yield self._render("classes_wildcard", step, sensitive, **parameters)
        self.engine.drop(name)

    def _cells_relation(self, name: str, sensitive: str | None, table: SensitiveTable | None, keep_keys: bool) -> str:
        """Return a FROM item of cells with a number for each class, materialized if the engine can.

        Where a materialized relation numbers its rows itself, and in parallel, these numbers are used.
        """
        if not self.engine.can_materialize:
            return inline(self._cells_statement(sensitive, table, keep_keys, number=True))
        if not self.engine.numbers_rows:
            return self._materialize(name, self._cells_statement(sensitive, table, keep_keys, number=True))
        classes = self._materialize_in_parts(
            name, table, lambda part: self._cells_statement(sensitive, table, keep_keys, part=part)
        )
        return inline(render("classes/numbered.sql", self.engine.dialect, classes=Raw(classes)))

    def _packed_relation(self, sensitive: str | None, table: SensitiveTable | None, keep_keys: bool) -> str:
        """Return a FROM item of count vectors in lanes as narrow as a sample suggests.

        Classes that are too large for these lanes are counted again, alone and in wide ones. No count exceeds the size
        of its class, so lanes are wide enough if the largest class fits.
        """
        name = self._relation_name("keyed" if keep_keys else "classes")

        def count(packing: Packing) -> str:
            return self._materialize_in_parts(
                name, table, lambda part: self._packed_statement(sensitive, table, keep_keys, packing, part)
            )

        widest = max(table.totals, default=1) if table else 1
        packing = self._plan_packing(table, min(self._guess_largest_count(table, keep_keys), widest))
        classes = count(packing)
        if packing.capacity >= widest:
            return classes
        overflow = self.engine.run(
            render("classes/rows_above.sql", self.engine.dialect, classes=Raw(classes), most=packing.capacity)
        )
        if not overflow[0][0]:
            return classes
        wide = self._plan_packing(table, widest)
        # Selecting so many rows costs more than counting all of them
        if self._grouped_people(table, keep_keys) or 2 * int(overflow[0][0]) > (table.total if table else 0):
            return count(wide)
        narrow = (classes, packing.capacity)
        statement = self._packed_statement(sensitive, table, keep_keys, wide, narrow=narrow)
        corrected = self._materialize(f"{name}_whole", statement)
        self.engine.drop(name)
        return corrected

    def _plan_packing(self, table: SensitiveTable | None, largest: int) -> Packing:
        largest_possible = max(table.totals, default=1) if table else 1
        return Packing.plan(table.distinct if table else 0, largest, self.engine.dialect, largest_possible)

    def _grouped_people(self, table: SensitiveTable | None, keep_keys: bool) -> GroupedPeople | None:
        """Return the people to count classes from, None if the rows have to be counted.

        They have no keys and, beyond `PACKED_VALUES`, no values. What does not fit the memory is counted in parts.
        """
        people = self.frame.people
        if people is None or keep_keys or people.has_values != (table is not None):
            return None
        return None if split_classes(self.engine, self.frame, table.total if table else 0) else people

    def _guess_largest_count(self, table: SensitiveTable | None, keep_keys: bool) -> int:
        """Return a count that no class is likely to exceed, the number of rows if guessing does not pay."""
        rows = table.total if table else 0
        if not self.engine.can_materialize or rows < 4 * SAMPLE_ROWS or not self.frame.keys or table is None:
            return rows
        percent, people = -(-100 * SAMPLE_ROWS // rows), self._grouped_people(table, keep_keys)
        frame = replace(self.frame, source=people.relation, keys=people.keys) if people else self.frame
        statement = replace(self, frame=frame)._render("largest_class_of_sample", "", None, share=percent)
        largest = int(self.engine.run(statement)[0][0] or 1)
        return int(2 ** (largest * 100 // percent).bit_length() - 1)

    def plan(self, sensitive: str | None) -> list[Statement]:
        """Return the statements that can be written before any has run: the values, and the classes."""
        wildcard = self.nulls is NullPolicy.WILDCARD
        if sensitive is None:
            if wildcard:
                return [self._wildcard_statement(None, None)]
            return [self._packed_statement(None, None, False, self._plan_packing(None, 1))]
        table = SensitiveTable("", (), True, True, False)
        if wildcard:
            classes = self._wildcard_statement(sensitive, table)
        else:
            classes = self._cells_statement(sensitive, table, False, number=True)
        return [self._totals_statement(sensitive, False), classes]

    def _packed_statement(
        self,
        sensitive: str | None,
        table: SensitiveTable | None,
        keep_keys: bool,
        packing: Packing,
        part: ClassPart | None = None,
        narrow: tuple[str, int] = ("", 0),
        limit: int | None = None,
    ) -> Statement:
        """Return the statement of the classes as count vectors.

        Args:
            sensitive: the expression of the sensitive attribute.
            table: the sensitive attribute over the whole table.
            keep_keys: whether classes are separate and have their keys.
            packing: the layout of the vectors.
            part: the part of the classes; None = all.
            narrow: a FROM item of the classes in lanes that are too narrow for some, and the largest count of these
                lanes. Only the other classes are counted again.
            limit: the largest number of rows; None = all.
        """
        has_null = table is not None and table.has_null
        people = self._grouped_people(table, keep_keys)
        return self._render(
            "classes_packed",
            "equivalence classes",
            sensitive,
            people=Raw(people.relation) if people else None,
            people_keys=people.keys if people else (),
            words=packing.words,
            mask=packing.capacity,
            counted=Raw(narrow[0]) if narrow[0] else None,
            most=narrow[1],
            share=part,
            kept_lanes=self._lanes_relation(part),
            word_type=packing.word_type,
            has_null=has_null,
            null_weights=packing.weights_of(table.distinct - 1) if table and has_null else [],
            text=table is not None and table.text,
            keep_keys=keep_keys,
            limit=limit,
        )

    def _cells_statement(
        self,
        sensitive: str | None,
        table: SensitiveTable | None,
        keep_keys: bool,
        *,
        number: bool = False,
        part: ClassPart | None = None,
    ) -> Statement:
        """Return the statement of the classes as lists of cells. `number` numbers them; `part` None = all classes."""
        return self._render(
            "classes_cells",
            "equivalence classes",
            sensitive,
            keep_keys=keep_keys,
            number=number,
            share=part,
            kept_lanes=self._lanes_relation(part),
            **_lane_parameters(table),
        )

    def _lanes_relation(self, part: ClassPart | None) -> Raw | None:
        lanes = part.lanes if part else self.lanes
        return Raw(lanes) if lanes else None

    def _totals_statement(self, sensitive: str, text: bool) -> Statement:
        return self._render("totals", "sensitive values", sensitive, text=text)

    def _render(self, template: str, step: str, sensitive: str | None, **parameters: Any) -> Statement:
        """Return a statement over the rows of the frame."""
        frame = replace(self.frame, sensitive=sensitive).parameters()
        return render(f"classes/{template}.sql", self.engine.dialect, step=step, **frame, **parameters)

    def _relation_name(self, kind: str) -> str:
        return f"sqlaudit_{kind}" + (f"_{self.number}" if self.number else "")

    def _materialize_in_parts(
        self, name: str, table: SensitiveTable | None, statement_of: Callable[[ClassPart | None], Statement]
    ) -> str:
        """Materialize the classes in as many parts as the memory requires.

        Args:
            name: the name of the relation.
            table: the sensitive attribute over the whole table.
            statement_of: returns the statement of a part, None = of all classes.

        Returns:
            The FROM item of the relation.
        """
        parts = split_classes(self.engine, self.frame, table.total if table else 0)
        if not parts or table is None or self.frame.sensitive is None:
            return self._materialize(name, statement_of(None))
        totals = self._totals_statement(self.frame.sensitive, table.text)
        lanes = self.lanes or self._materialize(f"{name}_lanes", totals)
        relation = self._materialize(name, statement_of(replace(parts[0], lanes=lanes)))
        for part in parts[1:]:
            self.engine.extend(name, statement_of(replace(part, lanes=lanes)))
        return relation

    def _materialize(self, name: str, statement: Statement) -> str:
        """Return the rows of a statement as a FROM item, materialized for the session if the engine can."""
        if self.engine.can_materialize:
            return self.engine.materialize(name, statement).sql
        return inline(statement)


def _lane_parameters(table: SensitiveTable | None) -> dict[str, object]:
    """Return the parameters of cells that depend on the sensitive values."""
    null_lane = table.distinct - 1 if table and table.has_null else 0
    return {"null_lane": null_lane, "text": table is not None and table.text}


def inline(statement: Statement) -> str:
    """Return a statement as a FROM item. Lists of cells are read once, and cost more to materialize than to make."""
    return "(" + statement.sql + ")"


# Cells of classes under one number each, and facts of classes that are computed from them.
#
# With hundreds of sensitive values and millions of classes, three steps cost more than all others together: a GROUP BY
# of several columns, a list of cells for each class, and unfolding these lists again. Instead, the columns of the key
# become codes side by side in one number, with the lane behind them. The cells are materialized in the order of these
# numbers, and facts are aggregated from them. Lists are only made when they are read.
#
# Most facts need only the cells. Distances from the table also need the size of the class, which is not known before
# all cells are counted. But in a small class every value that occurs is more frequent than in the table, and then the
# distance follows from the frequencies in the table: `n total - n (their rows in the table)`, twice. Classes for which
# this is not certain are computed separately.

CODED_ROWS = 1_000_000
"""From this many rows on, codes are worth their additional statements."""
MAX_DICTIONARY_VALUES = 100_000
"""Largest number of values of a column without integers that is coded: a larger dictionary would cost too much."""
_CODE_BITS = 62
_LARGEST_INTEGER = 2**61
_FITS_INTEGER = 2**31
_COUNT_MACROS = frozenset(
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
"""Facts that are aggregates of the cells alone, and at most the rows of the class."""
_CELL_MACROS = _COUNT_MACROS | frozenset(
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
"""(place, bits, smallest value, whether there are NULLs) of a column. Without a smallest value, codes are from a
dictionary."""


@dataclass(frozen=True)
class Coding:
    """The codes of the columns of a key, which are one number together with a lane of `lane_bits` bits."""

    codes: tuple[Code, ...]
    lane_bits: int


def plan_coding(engine: Engine, frame: Frame, table: SensitiveTable) -> Coding | None:
    """Plan the coding of a key; None if it does not fit a number, or does not pay."""
    pays = engine.numbers_rows and table.total >= CODED_ROWS and frame.keys
    if not pays or frame.entity is not None or frame.solo or len(frame.integers) != len(frame.keys):
        return None
    parameters = {**frame.parameters(), "wholes": frame.integers}
    row = engine.run(render("classes/key_shapes.sql", engine.dialect, step="widths of keys", **parameters))[0]
    codes = [_plan_code(i + 1, is_integer, *row[3 * i : 3 * i + 3]) for i, is_integer in enumerate(frame.integers)]
    lane_bits = max(1, (table.distinct - 1).bit_length())
    possible = tuple(code for code in codes if code is not None)
    if len(possible) < len(codes) or lane_bits + sum(code[1] for code in possible) > _CODE_BITS:
        return None
    return Coding(possible, lane_bits)


def _plan_code(position: int, is_integer: bool, low: int | None, high: int | None, nulls: int) -> Code | None:
    """Plan the code of a column; None if it has no code.

    Args:
        position: the position of the column in the key, from 1 on.
        is_integer: whether it is an integer column.
        low: its smallest value, if it is.
        high: its largest value; of other columns, about how many different values they have.
        nulls: its number of NULLs.
    """
    low, high = int(low or 0), int(high or 0)
    if is_integer:
        fits = low > -_LARGEST_INTEGER and high < _LARGEST_INTEGER
        return (position, (high - low + 1).bit_length(), low, nulls > 0) if fits else None
    fits = high <= MAX_DICTIONARY_VALUES
    return (position, (high + high // 4 + 16).bit_length(), None, nulls > 0) if fits else None


def materialize_coded_cells(
    engine: Engine, frame: Frame, table: SensitiveTable, coding: Coding, lanes: str, name: str
) -> str | None:
    """Materialize the cells (id, lane, c) of the classes under one number each.

    Args:
        engine: the engine that counts.
        frame: the table.
        table: the sensitive attribute over the whole table.
        coding: the coding of the key.
        lanes: a FROM item of (lane, s, total).
        name: the name of the relation.

    Returns:
        The FROM item of the cells; None if a row has no code.
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
    cells = engine.materialize(name, statement).sql
    counted_rows = engine.run(render("classes/cells_found.sql", engine.dialect, step="cells found", cells=Raw(cells)))
    if int(counted_rows[0][0]) != table.total:
        engine.drop(name)
        return None
    return cells


def materialize_facts_of_cells(histogram: ClassHistogram, facts: Sequence[Fact], name: str) -> str:
    """Return a FROM item of facts of classes that are computed from materialized cells.

    Args:
        histogram: the classes with their cells.
        facts: the facts.
        name: the name of the relation of facts that follow from cells alone. Other facts are materialized as
            `…_apart` (for the classes where they do not follow from these) and `…_every` (for all classes).
    """
    # Early facts follow from the cells alone. Late ones need the rows of the whole table, too; the least lift tells for
    # which classes the cells decide `_GAP` all the same.
    late = [fact for fact in facts if fact.macro not in _CELL_MACROS]
    late_macros = {fact.macro for fact in late}
    early = [fact for fact in facts if fact.macro in _CELL_MACROS]
    early += [_LEAST_LIFT] if _GAP in late_macros and _LEAST_LIFT not in early else []
    total = histogram.table.total if histogram.table else 0

    def materialize(name: str, template: str, facts: Sequence[Fact], step: str, **parameters: object) -> str:
        cells = Raw(histogram.cells)
        statement = histogram.statement(f"classes/{template}.sql", facts, step, cells=cells, **parameters)
        return histogram.engine.materialize(name, statement).sql

    early_facts = materialize(
        name,
        "facts_of_cells",
        early,
        "facts of classes",
        gap=_GAP in late_macros,
        bound=_BOUND in late_macros,
        all_occur=True,
        counts=sorted(_COUNT_MACROS),
        whole="INTEGER" if total < _FITS_INTEGER else "BIGINT",
    )
    # Conditions of the classes whose facts do not follow from the cells; in doubt, which floating point leaves, too
    doubtful = [f"n >= (1 - 1e-9) * {total} * smallest_lift"] if _GAP in late_macros else []
    doubtful += [f"ABS(bound * {total} - n) <= 1e-9 * n"] if _BOUND in late_macros else []
    of_doubtful = [fact for fact in late if fact.macro in (_GAP, _BOUND)]
    of_all = [fact for fact in late if fact.macro not in (_GAP, _BOUND, "wide_n")]
    late_facts: dict[str, Raw | None] = {"apart": None, "every": None}
    for part, needed, condition in (("apart", of_doubtful, " OR ".join(doubtful)), ("every", of_all, "1 = 1")):
        if needed:
            parameters = {"known": Raw(early_facts), "condition": condition, **histogram.product_types(needed)}
            step = "facts of separate classes"
            late_facts[part] = Raw(materialize(f"{name}_{part}", "facts_apart", needed, step, **parameters))
    joined = histogram.statement(
        "classes/facts_joined.sql",
        [],
        "facts",
        known=Raw(early_facts),
        early=[(fact.name, fact.macro in _COUNT_MACROS) for fact in early],
        late=[(fact.name, fact.macro) for fact in late],
        **late_facts,
    )
    return inline(joined)
