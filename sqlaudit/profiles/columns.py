"""Column facts from the database: one scan, then one grouping a column with several columns in one statement."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Relation, Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.request import EXACT_ROWS
from sqlaudit.profiles.result import ColumnFacts

BATCH = 8
"""Columns in one statement: its hash tables exist at the same time."""
SCAN_BATCH = 100
FEW_VALUES = 100_000
SAMPLE_ROWS = 500_000
SHAPES = (
    "missing",
    "email",
    "url",
    "uuid",
    "ip_address",
    "date",
    "national_id",
    "iban",
    "card_number",
    "number",
    "phone",
    "free_text",
    "capitalised_words",
    "other",
)
_FIXED = 16
"""Columns of profile_values.sql before the shapes."""


@dataclass(frozen=True)
class Source:
    """A column or expression to look at: how it is called, its SQL, its type and kind."""

    name: str
    sql: str
    kind: Kind
    type: str = ""

    def parameters(self) -> dict[str, Any]:
        """What the template needs to know of it."""
        return {
            "sql": Raw(self.sql),
            "any": True,
            "text": self.kind is Kind.TEXT,
            "fraction": self.kind in (Kind.FLOAT, Kind.DECIMAL),
            "whole": self.kind is Kind.INTEGER,
        }


@dataclass(frozen=True)
class Scanned:
    """A column after the first scan. `estimate` is the engine's own guess at the different values."""

    source: Source
    rows: int
    nulls: int
    estimate: int | None


def sources_of(relation: Relation, dialect: str) -> tuple[Source, ...]:
    """All columns of a relation."""
    return tuple(Source(c.name, quote(c.name, dialect), c.kind, c.type) for c in relation.columns)


def column_facts(
    engine: Engine, relation: Relation, sources: Sequence[Source], exact_rows: int = EXACT_ROWS
) -> list[ColumnFacts]:
    """The facts of columns, in their order.

    Args:
        engine: where the relation is. relation, sources: what to look at.
        exact_rows: tables with more rows are looked at in a sample of `SAMPLE_ROWS` rows.
    """
    scanned = _scan(engine, relation, sources)
    exact = [_in_full(column, exact_rows) for column in scanned]
    facts: dict[str, ColumnFacts] = {}
    for in_full in (True, False):
        chosen = [column for column, full in zip(scanned, exact, strict=True) if full is in_full]
        share = None if in_full or not chosen else SAMPLE_ROWS / chosen[0].rows
        for some in batches(chosen, BATCH):
            rows = engine.run(values_statement(engine, relation, [c.source for c in some], share))
            facts.update((f.name, f) for f in _read(some, rows, in_full))
    return [facts[column.source.name] for column in scanned]


def planned_statements(engine: Engine, relation: Relation) -> list[Statement]:
    """The statements that `column_facts` runs over a table that is looked at in full."""
    sources = sources_of(relation, engine.dialect)
    scans = [_scan_statement(engine, relation, some) for some in batches(sources, SCAN_BATCH)]
    return scans + [values_statement(engine, relation, some) for some in batches(sources, BATCH)]


def values_statement(
    engine: Engine,
    relation: Relation,
    sources: Sequence[Source],
    share: float | None = None,
    first: int | None = None,
    step: str = "",
) -> Statement:
    """The statement that groups every column on its own.

    Args:
        engine, relation: where the rows are. sources: what to group.
        share: look only at this share of the rows, drawn at random. first: look only at so many rows, the first ones.
        step: the statement's name, when it is not `profile_values`.
    """
    return render(
        "profiles/profile_values.sql",
        engine.dialect,
        source=Raw(relation.sql),
        columns=[s.parameters() for s in sources],
        share=None if share is None else f"{share:.12f}",
        first=first,
        shapes=SHAPES,
        step=step,
    )


def facts_of(source: Source, row: Row | None) -> ColumnFacts:
    """The facts of a column from its row of profile_values.sql, as if the rows looked at were the whole table.

    Args:
        source: the column. row: its row, None when there was no row to look at.
    """
    if row is None:
        return ColumnFacts(source.name, source.type, source.kind.value, 0, 0, 0, True, 0)
    _, looked_at, filled, distinct, smallest, below, unique, _ = (int(value) for value in row[:8])
    shortest, longest, characters, folded, whole, width = row[10:_FIXED]
    text, fraction = source.kind is Kind.TEXT, source.kind in (Kind.FLOAT, Kind.DECIMAL)
    return ColumnFacts(
        source.name,
        source.type,
        source.kind.value,
        looked_at,
        looked_at - filled,
        distinct,
        True,
        looked_at,
        filled,
        smallest,
        below,
        unique,
        _entropy(float(row[8]), looked_at),
        _separation(float(row[9]), looked_at),
        int(shortest) if shortest is not None else None,
        int(characters) / filled if characters is not None and filled else None,
        int(longest) if longest is not None else None,
        int(whole or 0) if fraction else None,
        float(width) if width is not None else None,
        distinct - int(folded) if text else 0,
        {shape: int(rows) for shape, rows in zip(SHAPES, row[_FIXED:], strict=True)} if text else {},
    )


def estimated_distinct(distinct: int, once: int, sampled: int, whole: int) -> int:
    """Different values in a whole table from those in a sample of it.

    The estimator of Haas and Stokes (Estimating the Number of Classes in a Finite Population, JASA 93, 1998), which
    PostgreSQL's ANALYZE uses too: n d / (n - f + f n / N).

    Args:
        distinct: different values in the sample (d). once: those that occur once in it (f).
        sampled: rows of the sample with a value (n). whole: rows of the table with a value (N).

    Example:
        >>> estimated_distinct(1000, 1000, 1000, 50000), estimated_distinct(10, 0, 1000, 50000)
        (50000, 10)
    """
    if not sampled:
        return 0
    estimate = sampled * distinct / (sampled - once + once * sampled / whole)
    return min(max(round(estimate), distinct), whole)


def batches(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    """The items in groups of at most `size`."""
    return (items[begin : begin + size] for begin in range(0, len(items), size))


def _scan(engine: Engine, relation: Relation, sources: Sequence[Source]) -> list[Scanned]:
    found: list[Scanned] = []
    for some in batches(sources, SCAN_BATCH):
        row = engine.run(_scan_statement(engine, relation, some))[0]
        total = int(row[0])
        for source, filled, guess in zip(some, row[1::2], row[2::2], strict=True):
            found.append(Scanned(source, total, total - int(filled), None if guess is None else int(guess)))
    return found


def _scan_statement(engine: Engine, relation: Relation, sources: Sequence[Source]) -> Statement:
    columns = [Raw(source.sql) for source in sources]
    return render("profiles/profile_scan.sql", engine.dialect, source=Raw(relation.sql), columns=columns)


def _in_full(column: Scanned, exact_rows: int) -> bool:
    few = column.estimate is not None and column.estimate <= FEW_VALUES
    return column.rows <= exact_rows or few


def _read(columns: Sequence[Scanned], rows: Sequence[Row], in_full: bool) -> Iterable[ColumnFacts]:
    by_number = {int(row[0]): row for row in rows}
    for number, column in enumerate(columns):
        row = by_number.get(number)
        facts = facts_of(column.source, row)
        yield facts if in_full else _from_sample(column, facts, row)


def _from_sample(column: Scanned, facts: ColumnFacts, row: Row | None) -> ColumnFacts:
    filled = column.rows - column.nulls
    once = int(row[7]) if row else 0
    guess = column.estimate
    if guess is None:
        guess = estimated_distinct(facts.distinct, once, facts.filled, filled)
    return ColumnFacts(
        facts.name,
        facts.type,
        facts.kind,
        column.rows,
        column.nulls,
        min(max(guess, facts.distinct), filled),
        False,
        facts.looked_at,
        facts.filled,
        entropy=None,
        shortest=facts.shortest,
        mean_length=facts.mean_length,
        longest=facts.longest,
        whole=facts.whole,
        width=facts.width,
        respelled=facts.respelled,
        shapes=facts.shapes,
    )


def _entropy(count_log_count: float, rows: int) -> float:
    return max(0.0, (math.log(rows) - count_log_count / rows) / math.log(2))


def _separation(pairs: float, rows: int) -> float | None:
    return 1 - pairs / (rows * (rows - 1)) if rows > 1 else None
