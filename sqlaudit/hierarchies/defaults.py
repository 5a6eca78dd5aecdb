"""Default levels of columns without a hierarchy, by their type and a few aggregates."""

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
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.hierarchies.levels import LIMITS, TOP, Hierarchy, decimal_text
from sqlaudit.hierarchies.read import read_hierarchy

_DATES = ("month", "quarter", "year", "decade")
_STEPS = (5, 10, 20, 40)
_SMALLEST, _LARGEST = Fraction(1, 10**9), 200
"""Least range of numbers that has widths, and least range whose widths are powers of ten."""
_SHORTEST, _LONGEST = 3, 12
"""Least and largest length of texts that may be codes."""


def with_defaults(
    engine: Engine, relation: Relation, columns: Sequence[Resolved], hierarchies: Sequence[Hierarchy]
) -> tuple[Hierarchy, ...]:
    """Return the hierarchies, with default levels for each column that has none.

    Args:
        engine, relation: the table.
        columns: the quasi-identifiers.
        hierarchies: theirs, in the same order.
    """
    levels = iter(default_levels(engine, relation, without_levels(columns, hierarchies)))
    return tuple(
        hierarchy
        if hierarchy.place
        else replace(read_hierarchy(hierarchy.column, nodes_of(next(levels))), by_default=True)
        for hierarchy in hierarchies
    )


def without_levels(columns: Sequence[Resolved], hierarchies: Sequence[Hierarchy]) -> list[Resolved]:
    """Return the columns that have no hierarchy."""
    return [column for column, hierarchy in zip(columns, hierarchies, strict=True) if not hierarchy.place]


def default_levels(engine: Engine, relation: Relation, columns: Sequence[Resolved]) -> list[object]:
    """Return the levels of each column in the format of a file of hierarchies.

    They follow from the type of a column, the range of its numbers and the lengths of its texts, so roughly that no
    level shows a value.
    """
    kinds = [column_type(engine, relation, column).kind for column in columns]
    rows = [engine.run(statement)[0] for statement in defaults_statements(engine, relation, columns)]
    figures = iter(rows[0] if rows else ())
    return [propose_levels(kind, [next(figures) for _ in range(4)] if _needs_figures(kind) else ()) for kind in kinds]


def defaults_statements(engine: Engine, relation: Relation, columns: Sequence[Resolved]) -> list[Statement]:
    """Return the statement that default levels need: one, or none without numbers and texts."""
    kinds = [(column, column_type(engine, relation, column).kind) for column in columns]
    aggregated = [{"value": column, "text": kind is Kind.TEXT} for column, kind in kinds if _needs_figures(kind)]
    template = "hierarchies/hierarchy_defaults.sql"
    return [render(template, engine.dialect, source=relation, columns=aggregated)] if aggregated else []


def _needs_figures(kind: Kind) -> bool:
    return kind in NUMBERS or kind is Kind.TEXT


def propose_levels(kind: Kind, figures: Sequence[Any]) -> object:
    """Return the levels of a column of a type.

    Args:
        kind: the type.
        figures: the smallest and largest number, or length of a text; how many there are, and how many of them are
            integers, or look like codes.

    Example:
        >>> propose_levels(Kind.INTEGER, (16, 93, 500, 500)), propose_levels(Kind.FLOAT, (0.0, 1.0, 500, 500))
        ({'widths': ['5', '10', '20', '40']}, '*')
        >>> propose_levels(Kind.FLOAT, (900.0, 152000.0, 500, 0)), propose_levels(Kind.TEXT, (5, 5, 80, 80))
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
    widths = [decimal_text(width) for width in _propose_widths(Fraction(high) - Fraction(low), like == filled)]
    return {"widths": widths} if widths else TOP


def _propose_widths(span: Fraction, is_whole: bool) -> list[Fraction]:
    """Return nested widths below a range of numbers: powers of ten, and multiples of five where the range is small."""
    if span < (10 if is_whole else _SMALLEST):
        return []
    power = math.floor(math.log10(span))
    if span >= _LARGEST:
        return [Fraction(10**exponent) for exponent in range(1, power + 1) if 10**exponent < span][-4:]
    unit = Fraction(10) ** min(power - 1, 0)
    return [step * unit for step in _STEPS if step * unit < span]


def as_file(target: str, columns: Sequence[str], levels: Sequence[object]) -> str:
    """Return default levels as a file of hierarchies, to be edited."""
    edit = f"Edit them, then name this file with {spelled('hierarchies')}."
    lines = [f"# Default levels of {target}. {edit}", "hierarchies:"]
    for column, column_levels in zip(columns, levels, strict=True):
        text = json.dumps(column_levels).replace('"', "") if column_levels != TOP else f'"{TOP}" # as it is, or {TOP}'
        lines.append(f"  {column if column.isidentifier() else json.dumps(column)}: {text}")
    return "\n".join(lines) + "\n"
