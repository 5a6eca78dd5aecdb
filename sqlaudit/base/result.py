"""What all results share: numbers, statuses, warnings, time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

Number = int | float | Fraction


class Status(StrEnum):
    """The verdict on one check, or on the whole audit."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    UNDETERMINED = "undetermined"


def plain(value: Any) -> Any:
    """A value as JSON knows it: fractions become floats (integers when whole), infinity and NaN become null.

    Values that JSON has no type for (decimals, dates, identifiers, bytes) become text.
    """
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if value is None or isinstance(value, bool | str):
        return value
    return _plain_number(value) if isinstance(value, Real) else _plain_text(value)


def _plain_number(value: Real) -> int | float | None:
    if isinstance(value, Integral) or (isinstance(value, Fraction) and value.denominator == 1):
        return int(value)
    return float(value) if math.isfinite(value) else None


def _plain_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


@dataclass(frozen=True)
class Warned:
    """Something a reader should know: a stable code, the columns concerned, one sentence without cell values."""

    code: str
    columns: tuple[str, ...]
    message: str

    def to_dict(self) -> dict[str, Any]:
        """The warning as the JSON schema has it."""
        return {"code": self.code, "columns": list(self.columns), "message": self.message}


UNDER_VERDICT = (
    "possible_direct_identifier",
    "possible_quasi_identifier",
    "unreadable_columns",
    "empty_quasi_identifier",
    "several_combinations",
    "one_combination",
    "read_by_expressions",
    "columns_without_role",
)
"""The codes of what stands directly under a verdict: what it does not cover, worst first."""
_ONLY_SAID = ("one_combination", "read_by_expressions", "columns_without_role")


def under_verdict(warnings: Sequence[Warned]) -> tuple[Warned, ...]:
    """The warnings that stand directly under a verdict, worst first. A declared identifier is a check of its own."""
    found = [warned for warned in warnings if warned.code in UNDER_VERDICT]
    return tuple(sorted(found, key=lambda warned: UNDER_VERDICT.index(warned.code)))


def is_note(warned: Warned) -> bool:
    """Whether it only says what a verdict is about, and warns of nothing."""
    return warned.code in _ONLY_SAID


@dataclass(frozen=True)
class Timing:
    """A statement that ran: its step, its seconds, and its SQL (which holds no cell value)."""

    name: str
    seconds: float | None
    sql: str = field(default="", repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The statement as the JSON schema has it (without its SQL)."""
        return {"name": self.name, "seconds": self.seconds}


MEANING = "What a verdict means, for whom it holds and what it leaves open: docs/verdicts.md"
"""The last sentence of every report with a verdict."""
