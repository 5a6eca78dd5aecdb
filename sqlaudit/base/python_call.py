"""A call of the library as its report repeats it: without values of the table, and without addresses of databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from numbers import Rational, Real
from pathlib import Path
from typing import Any

from sqlaudit.base.connection_texts import HIDDEN, without_connections
from sqlaudit.base.options import SHOWN, Option
from sqlaudit.base.result import BY_PLACE, PythonCall

_OTHER_TABLES = ("other", "holdout", "identified", "other_release", "static_from", "properties", "observations")
_TABLES = (*BY_PLACE, *_OTHER_TABLES, "positions", "before", "margins", "linked")
_PLAIN = ("read", "limits", "roles", "name", "names", "column")
_LEVELS = ("widths", "mask")
"""What a hierarchy has of numbers alone; any other form may hold values of the table."""
_OF_NUMBERS = {"flag", "switch", "choice", "folding", "whole", "range", "most", "share", "number", "seconds", "memory"}
_OF_NUMBERS |= {"pieces", "probability", "witness", "day", "weights", "columns_at"}
"""Kinds of options that take numbers, and words of a list."""


def call_of(function: str, given: Mapping[str, Any], options: Mapping[str, Option]) -> PythonCall:
    """Return a call as a report repeats it.

    Args:
        function: its name. given: the arguments that were passed. options: the options among its parameters.
    """
    return PythonCall(function, {name: _source(name, value, options.get(name)) for name, value in given.items()})


def _source(name: str, value: Any, option: Option | None) -> str:
    """Return the source of an argument, … for what may be confidential, and a variable for what has no source."""
    if name in _TABLES:
        return _table(name, value)
    if name == "db":
        return _file_or_hidden(value) if isinstance(value, str | Path) else name
    kind = "" if option is None else option.kind.name
    if option is not None and option.writes:
        return HIDDEN
    if kind in ("source", "inputs", "file", "files", "levels") and not isinstance(value, str | Path):
        return _literal(value) if _has_only_numbers(value) else HIDDEN
    shown = name in SHOWN or name in _PLAIN or kind in (*_OF_NUMBERS, "source", "inputs", "file", "files", "levels")
    return _literal(value) if shown else HIDDEN


def _table(name: str, value: Any) -> str:
    """Return the source of a table: its name, or a variable for a frame."""
    if isinstance(value, str | Path):
        return repr(without_connections(str(value)))
    if isinstance(value, Sequence):
        one = "release" if name == "targets" else name
        return f"[{', '.join(_table(f'{one}_{place}', table) for place, table in enumerate(value, 1))}]"
    return "frame" if name in ("target", "messages") else name


def _file_or_hidden(address: str | Path) -> str:
    from sqlaudit.base.files import is_file

    return repr(str(address)) if is_file(address) else HIDDEN


def _has_only_numbers(value: Any) -> bool:
    """Return True if a mapping has nothing but numbers, by names of columns and forms of levels."""
    if isinstance(value, Mapping):
        return all(
            (isinstance(inner, Mapping) and _has_only_numbers(inner)) or (key in _LEVELS and _has_only_numbers(inner))
            for key, inner in value.items()
        )
    return isinstance(value, Real) or (isinstance(value, list | tuple) and all(map(_has_only_numbers, value)))


def _literal(value: Any) -> str:
    """Return the source of a value of plain types; a dataclass as the mapping that functions take instead."""
    if isinstance(value, Enum):
        return repr(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        value = {one.name: getattr(value, one.name) for one in fields(value) if getattr(value, one.name) != one.default}
    elif type(value).__module__.partition(".")[0] in ("numpy", "pandas"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_literal(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple | set | frozenset):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, Path | Rational | Decimal | date) and not isinstance(value, int):
        value = str(value)
    return repr(value) if value is None or isinstance(value, bool | int | float | str) else HIDDEN
