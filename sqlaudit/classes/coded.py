"""Cells of classes under one number each, and facts of classes straight from them.

Where there are hundreds of sensitive values and millions of classes, a GROUP BY of several columns, a list of cells for
each class and unfolding these lists again cost more than the rest together. The columns of the key become codes side by
side in one number, the lane behind them; the cells are kept in the order of these numbers, and facts are aggregated
from them. Lists are made only where somebody asks for them.

Most facts need nothing but the cells. Distances from the table need the size of the class as well, which no cell knows
before all are counted. But in a small class every value that occurs is more frequent than in the table, and then the
distance follows from how frequent these are there: `n total - n (their rows in the table)`, twice. Classes of which
that is not certain are looked at apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame, SensitiveTable
from sqlaudit.engines.contract import Engine

CODED_ROWS = 1_000_000
"""From so many rows on, codes are worth the statements that they need."""
MOST_LISTED = 100_000
"""A column that has more values, and no whole numbers, is not coded: its dictionary would cost too much."""
_BITS = 62
_LARGEST = 2**61
_SMALL = 2**31
_EARLY = frozenset(
    [
        "distinct_values",
        "largest",
        "smallest",
        "head",
        "top",
        "count_log_count",
        "members",
        "largest_of",
        "smallest_of",
        "largest_set",
        "head_of_sets",
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
"""Those of them that are no more than the rows of the class."""
_LEAST_LIFT = Fact("smallest_lift", "smallest_lift")
_GAP, _BOUND = "equal_distance", "gains_above_log"


Code: TypeAlias = "tuple[int, int, int | None, bool]"


@dataclass(frozen=True)
class Coding:
    """How the columns of a key become one number with the lane.

    Args:
        codes: of each column (place, bits, smallest value, whether there are NULLs); without a smallest value, codes
            come from a dictionary.
        lane_bits: the bits of the lane.
    """

    codes: tuple[Code, ...]
    lane_bits: int


def coding_of(engine: Engine, frame: Frame, table: SensitiveTable) -> Coding | None:
    """The coding of a key; None where it does not fit a number, or brings nothing."""
    wanted = engine.numbers_rows and table.total >= CODED_ROWS and frame.keys
    if not wanted or frame.entity is not None or frame.solo or len(frame.whole) != len(frame.keys):
        return None
    keys = [Raw(key) for key in frame.keys]
    statement = render(
        "classes/key_shapes.sql",
        engine.dialect,
        step="how wide keys are",
        source=Raw(frame.source),
        keys=keys,
        wholes=frame.whole,
    )
    row = engine.run(statement)[0]
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
        source=Raw(frame.source),
        keys=[Raw(key) for key in frame.keys],
        sensitive=Raw(frame.sensitive or "NULL"),
        kept_lanes=Raw(lanes),
        codes=coding.codes,
        lane_bits=coding.lane_bits,
        null_lane=table.distinct - 1 if table.has_null else None,
        small=table.total < _SMALL,
    )
    kept = engine.materialize(name, statement).sql
    found = engine.run(render("classes/cells_found.sql", engine.dialect, step="cells found", cells=Raw(kept)))
    if int(found[0][0]) != table.total:
        engine.drop(name)
        return None
    split = render("classes/cells_split.sql", engine.dialect, cells=Raw(kept), lane_bits=coding.lane_bits)
    return _inlined(split)


def classes_of_cells(engine: Engine, cells: str) -> str:
    """A FROM item of the classes with lists of their cells, made when it is read."""
    return _inlined(render("classes/classes_of_cells.sql", engine.dialect, cells=Raw(cells)))


def facts_of_cells(histogram: ClassHistogram, facts: Sequence[Fact], name: str) -> str:
    """A FROM item of facts of classes, of which what costs something is kept under this name and `…_apart`."""
    late = [fact for fact in facts if fact.macro not in _EARLY]
    asked = {fact.macro for fact in late} - {"wide_n"}
    early = [fact for fact in facts if fact.macro in _EARLY]
    early += [_LEAST_LIFT] if _GAP in asked and _LEAST_LIFT not in early else []
    shared: dict[str, Any] = {"cells": Raw(histogram.cells)}
    total = histogram.table.total if histogram.table else 0
    width: dict[str, Any] = {"counts": sorted(_COUNTS), "whole": "INTEGER" if total < _SMALL else "BIGINT"}
    known = _kept(
        histogram,
        "facts_of_cells",
        early,
        "facts of classes",
        name,
        gap=_GAP in asked,
        bound=_BOUND in asked,
        all_occur=True,
        **width,
        **shared,
    )
    apart = None
    if asked:
        condition = _condition(histogram, asked)
        needed = [fact for fact in late if fact.macro != "wide_n"]
        kept = {"known": Raw(known), "condition": condition, **histogram.narrow(needed), **shared}
        apart = _kept(histogram, "facts_apart", needed, "facts of classes apart", f"{name}_apart", **kept)
    joined = histogram.statement(
        "classes/facts_joined.sql",
        [],
        "facts",
        known=Raw(known),
        apart=Raw(apart) if apart else None,
        early=[(fact.name, fact.macro in _COUNTS) for fact in early],
        late=[(fact.name, fact.macro) for fact in late],
    )
    return _inlined(joined)


def _kept(
    histogram: ClassHistogram, template: str, facts: Sequence[Fact], step: str, name: str, **parameters: Any
) -> str:
    statement = histogram.statement(f"classes/{template}.sql", facts, step, **parameters)
    return histogram.engine.materialize(name, statement).sql


def _condition(histogram: ClassHistogram, asked: set[str]) -> str:
    """Which classes must be looked at apart; in doubt, which floating point leaves, they are."""
    if asked - {_GAP, _BOUND}:
        return "1 = 1"
    total = histogram.table.total if histogram.table else 0
    some = []
    if _GAP in asked:
        some.append(f"n >= (1 - 1e-9) * {total} * smallest_lift")
    if _BOUND in asked:
        some.append(f"ABS(bound * {total} - n) <= 1e-9 * n")
    return " OR ".join(some)


def with_facts(histogram: ClassHistogram, facts: Sequence[Fact], name: str) -> ClassHistogram:
    """The histogram with its facts kept."""
    return replace(histogram, kept=facts_of_cells(histogram, facts, name), kept_facts=tuple(facts))


def _inlined(statement: Statement) -> str:
    return "(" + statement.sql + ")"
