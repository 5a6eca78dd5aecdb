"""Class facts: what models ask of the equivalence classes, computed together in the database.

Models name facts; `ClassHistogram` knows the classes of one table for one sensitive attribute, in one of the physical
forms, and turns facts into statements. One scan of the table makes the classes; everything else reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlaudit.base.dialects import spoken
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine

if TYPE_CHECKING:
    from sqlaudit.classes.signatures import Signatures


Levels: TypeAlias = "Sequence[tuple[str, str, str]]"
"""(name, fold, expression) of what models report."""
Verdicts: TypeAlias = "Sequence[tuple[str, str, str]]"
"""(name, predicate of failing classes, predicate of classes too close to the limit to tell)."""


FEW_ROWS = 10_000
"""Of a table of so many rows or fewer, signatures come as rows: arrays cost a driver more to prepare than to fill."""


@dataclass(frozen=True)
class Fact:
    """A fact of a class: a macro of `_facts.sql` with whole-number arguments, under a column name of its own.

    `shown`: whether it says something to a person who reads about a failing class.
    """

    name: str
    macro: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    shown: bool = False


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

    @property
    def may_be_respelled(self) -> bool:
        """Whether two values may be one text in two spellings: cheap, True wherever `merged_lanes` finds any."""
        texts = [value for value in self.values if isinstance(value, str)]
        plain = all(text.isascii() and text.isprintable() for text in texts)
        return not plain or len({" ".join(text.lower().split()) for text in texts}) < len(texts)


@dataclass(frozen=True)
class Frame:
    """The table as a histogram sees it: a FROM item and the expressions of the key, in the engine's dialect.

    `solo`: a row with a NULL in its key is a class of its own. `collated`: whether each key is a column of text.
    `hashed`: whether each key is a column whose equal values have one hash: no text, which a collation may compare.
    `whole`: whether each key is a column of whole numbers. `sensitive` is the sensitive attribute's expression, None
    when there is none; `weights` that of the people whom a row stands for.
    """

    source: str
    keys: tuple[str, ...]
    entity: str | None
    solo: bool
    collated: tuple[bool, ...] = ()
    sensitive: str | None = None
    weights: str | None = None
    hashed: tuple[bool, ...] = ()
    whole: tuple[bool, ...] = ()


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
    answers: dict[str, list[Row]] = field(default_factory=dict, repr=False, compare=False)
    """What was asked ahead, by the text of the statement."""
    kept: str = ""
    """A FROM item of facts that are kept, each with the id of its class; empty where none are."""
    kept_facts: tuple[Fact, ...] = ()
    cells: str = ""
    """A FROM item of cells (id, lane, c) that are kept one by one; `classes` then makes their lists when it is read."""

    @property
    def lane_count(self) -> int:
        """The number of lanes."""
        return self.table.distinct if self.table else 0

    def statement(self, template: str, facts: Sequence[Fact], step: str, **parameters: Any) -> Statement:
        """A statement over the class facts."""
        packed = self.form == "packed" or self.table is None
        dialect = self.engine.dialect
        totals = self.table.totals if self.table else ()
        known = bool(self.kept) and all(fact in self.kept_facts for fact in facts)
        return render(
            template,
            dialect,
            step=step,
            classes=Raw(self.classes),
            totals=Raw(self.totals) if self.totals else "",
            facts=list(facts),
            kept_facts=Raw(self.kept) if known else "",
            kept_cells=Raw(self.cells) if self.cells else "",
            lane_totals=totals,
            form="packed" if packed else "cells",
            total=self.table.total if self.table else 0,
            **parameters,
        )

    def ask(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows of a statement over the classes; what was asked ahead has no parameters."""
        known = self.answers.get(statement.sql)
        return self.engine.run(statement, parameters) if known is None else known

    def ask_ahead(self, statements: Sequence[Statement]) -> None:
        """Have the rows of statements that are going to be asked, or may be, from one making of the classes."""
        shared = [item for item in (self.classes, self.totals) if item.startswith("(")]
        found = self.engine.run_together(statements, shared)
        self.answers.update(zip((statement.sql for statement in statements), found, strict=True))

    def figures(self, facts: Sequence[Fact], levels: Levels, verdicts: Verdicts) -> list[dict[str, Any]]:
        """The figures of all models, one row a distinct class size."""
        names = ["size", "classes", "table_rows", *(name for name, _, _ in levels)]
        for name, _, doubtful in verdicts:
            names += [f"{name}_classes", f"{name}_rows"] + ([f"{name}_doubtful"] if doubtful else [])
        rows = self.ask(self.figures_statement(facts, levels, verdicts))
        return [dict(zip(names, row, strict=True)) for row in rows]

    def figures_statement(self, facts: Sequence[Fact], levels: Levels, verdicts: Verdicts) -> Statement:
        """What asks for the figures of all models."""
        step = f"figures of {self.table.name}" if self.table else "class sizes"
        asked = {"levels": list(levels), "verdicts": list(verdicts), **self.narrow(facts)}
        return self.statement("classes/figures.sql", facts, step, **asked)

    def narrow(self, facts: Sequence[Fact]) -> dict[str, Any]:
        """The parameters of a statement in which products of counts of this table fit a plain integer, which is several
        times as fast; none where they might not. A fact adds up to four products for each lane."""
        factors = [sum(fact.arguments.get(name, 0) for name in ("numerator", "denominator")) for fact in facts]
        largest = 4 * max(1, self.lane_count) * (self.table.total if self.table else 0) ** 2 * max(1, *factors, 1)
        return {"wide": "BIGINT", "wider": spoken(self.engine.dialect).wide} if largest < 2**62 else {"wider": ""}

    def histogram(self, facts: Sequence[Fact], condition: str = "", limit: int | None = None) -> list[Row]:
        """(facts…, classes, rows) for every combination of the facts that occurs, or for `limit` of them."""
        names = [fact.name for fact in facts]
        parameters = {"names": names, "condition": condition, "limit": limit}
        return self.ask(self.statement("classes/fact_histogram.sql", facts, "histogram of facts", **parameters))

    def vectors(self, facts: Sequence[Fact], condition: str, limit: int) -> list[tuple[dict[int, int], int, int]]:
        """({lane: count}, classes, rows) of the classes that satisfy a condition, merged when equal."""
        columns = ", ".join(f"c{lane}" for lane in range(self.lane_count))
        statement = self.statement(
            "classes/count_vectors.sql",
            facts,
            "classes at a limit",
            condition=condition,
            limit=limit,
            lane_columns=columns,
            lane_count=self.lane_count,
        )
        return [(self._vector(row), int(row[-2]), int(row[-1])) for row in self.ask(statement)]

    def signatures(self, knowledge: int) -> Signatures:
        """The distinct signatures of the classes, for up to `knowledge` pieces of knowledge."""
        from sqlaudit.classes.signatures import Signatures

        if not self.lane_count:
            return Signatures.from_rows([], knowledge)
        statement = self.signatures_statement(knowledge)
        absent = knowledge + 1 - min(knowledge + 1, self.lane_count)
        few = self.table is not None and self.table.total <= FEW_ROWS
        if few or statement.sql in self.answers:
            rows = self.ask(statement)
            return Signatures.from_rows([(*row[:-1], *[0] * absent, row[-1]) for row in rows], knowledge)
        n, *counts, classes = self.engine.columns_as_arrays(statement).values()
        return Signatures.from_columns([n, *counts, *[n * 0] * absent, classes])

    def signatures_statement(self, knowledge: int) -> Statement:
        """What asks for them."""
        fact = self.top_counts(knowledge)
        return self.statement("classes/signatures.sql", [fact], "signatures", depth=fact.arguments["count"])

    def top_counts(self, knowledge: int) -> Fact:
        """The fact that signatures are made of."""
        return Fact("top_counts", "top", {"count": min(knowledge + 1, self.lane_count)})

    def _vector(self, row: Row) -> dict[int, int]:
        if self.form == "packed":
            return {lane: int(count) for lane, count in enumerate(row[:-2]) if count}
        pairs = (pair.split(":") for pair in row[0].split(","))
        return {int(lane): int(count) for lane, count in pairs}
