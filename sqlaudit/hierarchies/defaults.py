"""Default levels: how a column without a hierarchy becomes coarser, from its kind and a few aggregates."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.nodes import nodes_of
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import DATES, NUMBERS, Kind, Relation, Statement
from sqlaudit.base.sql import render
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import held
from sqlaudit.hierarchies.levels import LIMITS, TOP, Hierarchy, decimal_text
from sqlaudit.hierarchies.read import read_hierarchy

_DATES = ("month", "quarter", "year", "decade")
_STEPS = (5, 10, 20, 40)
_SMALLEST, _LARGEST = Fraction(1, 10**9), 200
"""Ranges of numbers: from the first on there are widths, and from the second on these are powers of ten."""
_SHORTEST, _LONGEST = 3, 12
"""Characters of texts that may be codes."""


def with_defaults(
    engine: Engine, relation: Relation, columns: Sequence[Resolved], hierarchies: Sequence[Hierarchy]
) -> tuple[Hierarchy, ...]:
    """The hierarchies, with default levels for each column that has none.

    Args:
        engine, relation: where the rows are. columns: the quasi-identifiers. hierarchies: theirs, in the same order.
    """
    levels = iter(default_levels(engine, relation, without_levels(columns, hierarchies)))
    return tuple(
        one if one.place else replace(read_hierarchy(one.column, nodes_of(next(levels))), by_default=True)
        for one in hierarchies
    )


def without_levels(columns: Sequence[Resolved], hierarchies: Sequence[Hierarchy]) -> list[Resolved]:
    """The columns that have no hierarchy."""
    return [column for column, hierarchy in zip(columns, hierarchies, strict=True) if not hierarchy.place]


def default_levels(engine: Engine, relation: Relation, columns: Sequence[Resolved]) -> list[Any]:
    """The levels of each column, as a file of hierarchies says them.

    They follow from the kind of a column, the range of its numbers and the lengths of its texts, and from these so
    roughly that no level shows a value.
    """
    kinds = [held(engine, relation, column).kind for column in columns]
    rows = [engine.run(statement)[0] for statement in defaults_statements(engine, relation, columns)]
    figures = iter(rows[0] if rows else ())
    return [levels_of(kind, [next(figures) for _ in range(4)] if _is_asked(kind) else ()) for kind in kinds]


def defaults_statements(engine: Engine, relation: Relation, columns: Sequence[Resolved]) -> list[Statement]:
    """The statement that default levels need: one, or none without numbers and texts."""
    kinds = [(column, held(engine, relation, column).kind) for column in columns]
    asked = [{"value": column, "text": kind is Kind.TEXT} for column, kind in kinds if _is_asked(kind)]
    template = "hierarchies/hierarchy_defaults.sql"
    return [render(template, engine.dialect, source=relation, columns=asked)] if asked else []


def _is_asked(kind: Kind) -> bool:
    return kind in NUMBERS or kind is Kind.TEXT


def levels_of(kind: Kind, figures: Sequence[Any]) -> Any:
    """The levels of a column of a kind.

    Args:
        kind: what it holds. figures: the smallest and largest number, or length of a text; how many there are, and how
            many of them are whole, or look like codes.

    Example:
        >>> levels_of(Kind.INTEGER, (16, 93, 500, 500)), levels_of(Kind.FLOAT, (0.0, 1.0, 500, 500))
        ({'widths': ['5', '10', '20', '40']}, '*')
        >>> levels_of(Kind.FLOAT, (900.0, 152000.0, 500, 0)), levels_of(Kind.TEXT, (5, 5, 80, 80))
        ({'widths': ['100', '1000', '10000', '100000']}, {'mask': {'keep': [4, 3, 2, 1]}})
    """
    if kind in DATES:
        return {"dates": list(_DATES)}
    if not figures or not figures[2]:
        return TOP
    low, high, filled, like = figures
    if kind is Kind.TEXT:
        step = math.ceil((high - 1) / 4)
        is_code = like == filled and low >= _SHORTEST and high <= _LONGEST
        return {"mask": {"keep": list(range(high - step, 0, -step))}} if is_code else TOP
    if not all(math.isfinite(bound) and abs(bound) < LIMITS[Kind.FLOAT] for bound in (low, high)):
        return TOP
    widths = [decimal_text(width) for width in _widths(Fraction(high) - Fraction(low), like == filled)]
    return {"widths": widths} if widths else TOP


def _widths(span: Fraction, whole: bool) -> list[Fraction]:
    """Nested widths below a range of numbers: powers of ten, and multiples of five where the range is small."""
    if span < (10 if whole else _SMALLEST):
        return []
    power = math.floor(math.log10(span))
    if span >= _LARGEST:
        return [Fraction(10**exponent) for exponent in range(1, power + 1) if 10**exponent < span][-4:]
    unit = Fraction(10) ** min(power - 1, 0)
    return [step * unit for step in _STEPS if step * unit < span]


def as_file(target: str, columns: Sequence[str], levels: Sequence[Any]) -> str:
    """Default levels as a file of hierarchies, to be edited."""
    edit = f"Edit them, then name this file with {spelled('hierarchies')}."
    lines = [f"# Default levels of {target}. {edit}", "hierarchies:"]
    for column, found in zip(columns, levels, strict=True):
        said = json.dumps(found).replace('"', "") if found != TOP else f'"{TOP}" # as it is, or {TOP}'
        lines.append(f"  {column if column.isidentifier() else json.dumps(column)}: {said}")
    return "\n".join(lines) + "\n"
