"""Default levels of columns without a hierarchy, by their name, their type and a few aggregates."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
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
_BIRTH_DATES = ("year", "5 years", "10 years")
_YEARS = {"birth_date": (1800, 2100), "age": (0, 130)}
"""Whole numbers in a column of that name are years of birth, or ages in years, if all are within these bounds."""
_STEPS = (5, 10, 20, 40)
_SMALLEST, _LARGEST = Fraction(1, 10**9), 200
"""Least range of numbers that has widths, and least range whose widths are powers of ten."""
_SHORTEST, _LONGEST = 3, 12
"""Least and largest length of texts that may be codes."""
_FIGURES = {**dict.fromkeys(NUMBERS, 4), Kind.TEXT: 5}
"""Aggregates that default levels of a type need."""
_CODE = "^[A-Za-z]{0,3}[ -]?[0-9][A-Za-z0-9 .]*$"
_POSTAL_CODE = "^[A-Za-z0-9 -]*[0-9][A-Za-z0-9 -]*$"
Concepts = Callable[[Resolved], str]
"""Returns what a column's name says about its contents: `birth_date`, `age`, `postal_code`, another word or none."""


def with_defaults(
    engine: Engine,
    relation: Relation,
    columns: Sequence[Resolved],
    hierarchies: Sequence[Hierarchy],
    concepts: Concepts,
) -> tuple[Hierarchy, ...]:
    """Return the hierarchies, with default levels for each column that has none.

    Args:
        engine, relation: the table.
        columns: the quasi-identifiers.
        hierarchies: theirs, in the same order.
        concepts: reads their names.
    """
    levels = iter(default_levels(engine, relation, without_levels(columns, hierarchies), concepts))
    return tuple(
        hierarchy
        if hierarchy.place
        else replace(read_hierarchy(hierarchy.column, nodes_of(next(levels))), by_default=True)
        for hierarchy in hierarchies
    )


def without_levels(columns: Sequence[Resolved], hierarchies: Sequence[Hierarchy]) -> list[Resolved]:
    """Return the columns that have no hierarchy."""
    return [column for column, hierarchy in zip(columns, hierarchies, strict=True) if not hierarchy.place]


def default_levels(engine: Engine, relation: Relation, columns: Sequence[Resolved], concepts: Concepts) -> list[object]:
    """Return the levels of each column in the format of a file of hierarchies.

    They follow from what the name of a column says, its type, the range of its numbers and the lengths of its texts, so
    roughly that no level shows a value.
    """
    kinds = [column_type(engine, relation, column).kind for column in columns]
    rows = [engine.run(statement)[0] for statement in defaults_statements(engine, relation, columns, concepts)]
    figures = iter(rows[0] if rows else ())
    return [
        propose_levels(kind, [next(figures) for _ in range(_FIGURES.get(kind, 0))], concepts(column))
        for column, kind in zip(columns, kinds, strict=True)
    ]


def defaults_statements(
    engine: Engine, relation: Relation, columns: Sequence[Resolved], concepts: Concepts
) -> list[Statement]:
    """Return the statement that default levels need: one, or none without numbers and texts."""
    kinds = [(column, column_type(engine, relation, column).kind) for column in columns]
    aggregated = [
        {
            "value": column,
            "text": kind is Kind.TEXT,
            "code": _POSTAL_CODE if concepts(column) == "postal_code" else _CODE,
        }
        for column, kind in kinds
        if kind in _FIGURES
    ]
    template = "hierarchies/hierarchy_defaults.sql"
    return [render(template, engine.dialect, source=relation, columns=aggregated)] if aggregated else []


def propose_levels(kind: Kind, figures: Sequence[Any], concept: str = "") -> object:
    """Return the levels of a column of a type.

    Args:
        kind: the type.
        figures: the smallest and largest number, or length of a text; how many there are, and how many of them are
            integers, or look like codes; how many texts have only digits.
        concept: what the name of the column says.

    Example:
        >>> propose_levels(Kind.INTEGER, (16, 93, 500, 500)), propose_levels(Kind.FLOAT, (0.0, 1.0, 500, 500))
        ({'widths': ['5', '10', '20', '40']}, '*')
        >>> propose_levels(Kind.FLOAT, (900.0, 152000.0, 500, 0)), propose_levels(Kind.TEXT, (5, 5, 80, 80, 80))
        ({'widths': ['100', '1000', '10000', '100000']}, {'mask': {'digits': [4, 3, 2, 1]}})
        >>> propose_levels(Kind.INTEGER, (1931, 2004, 500, 500), "birth_date")
        {'widths': ['5', '10'], 'unit': 'years'}
    """
    if kind in DATES:
        return {"dates": list(_BIRTH_DATES if concept == "birth_date" else _DATES)}
    if not figures or not figures[2]:
        return TOP
    low, high, filled, like, *digits = figures
    if kind is Kind.TEXT:
        is_code = like == filled and low >= _SHORTEST and high <= _LONGEST
        return _propose_masks(low, high, concept == "postal_code", digits == [filled]) if is_code else TOP
    if not all(math.isfinite(bound) and abs(bound) < LIMITS[Kind.FLOAT] for bound in (low, high)):
        return TOP
    span, is_whole = Fraction(high) - Fraction(low), like == filled
    widths = _propose_widths(span, is_whole)
    if concept == "postal_code" and is_whole and widths:  # without their last digits, whatever zeros they have lost
        widths = [Fraction(10**exponent) for exponent in range(1, _LONGEST) if 10**exponent < span]
    least, most = _YEARS.get(concept, (math.inf, -math.inf))
    in_years = is_whole and least <= low and high <= most
    if in_years and concept == "birth_date":
        widths = [width for width in widths if width in _STEPS[:2]]
    levels: dict[str, object] = {"widths": [decimal_text(width) for width in widths]}
    return levels | ({"unit": "years"} if in_years else {}) if widths else TOP


def _propose_masks(low: int, high: int, is_postal: bool, is_number: bool) -> object:
    """Return masks of codes of these lengths.

    A postal code loses one character a level, from the right. Prefixes of codes of several lengths leave a short one as
    it is where a long one has lost its end, so postal codes of several lengths count from their end. Other codes (J45,
    J45.0) have their meaning in front.
    """
    if is_postal and low < high:
        return {"mask": list(range(1, high))}
    step = 1 if is_postal else math.ceil((high - 1) / 4)
    return {"mask": {"digits" if is_number else "keep": list(range(high - step, 0, -step))}}


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
