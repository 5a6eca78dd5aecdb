"""What all results share: numbers, statuses, warnings, time, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.documents import LAST, LEFT_OUT, Documented, key, told
from sqlaudit.base.frozen import dataclass

Number = int | float | Fraction


class Status(StrEnum):
    """The verdict on one check, or on the whole audit."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Warned(Documented):
    """Something a reader should know: a stable code, the columns concerned, one sentence without cell values.

    `hint` is the end of the message that speaks of commands, for whoever runs them: a page says it elsewhere.
    """

    code: str
    columns: tuple[str, ...]
    message: str
    hint: str = field(default="", metadata=LEFT_OUT, compare=False, repr=False)

    @property
    def fact(self) -> str:
        """The message without what speaks of commands."""
        return self.message.removesuffix(self.hint).rstrip() if self.hint else self.message


UNDER_VERDICT = (
    "published_table",
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
class Timing(Documented):
    """A statement that ran: its step, its seconds, and its SQL (which holds no cell value)."""

    name: str
    seconds: float | None
    sql: str = field(default="", repr=False, metadata=LEFT_OUT)


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Documented):
    """What a command found: which document it makes, and in which versions and when it was made."""

    schema: ClassVar[str]

    versions: Mapping[str, str] = field(default_factory=dict)
    time: str = ""

    @told("", key("schema"))
    def _schema(self) -> str:
        return self.schema


@dataclass(frozen=True, kw_only=True, repr=False)
class MeasuredResult(Result):
    """What statements over one connection found: how it was read, and what ran."""

    access: str = ""
    statements: tuple[Timing, ...] = field(default=(), repr=False, metadata=LAST)


MEANING = "What a verdict means, for whom it holds and what it leaves open: docs/verdicts.md"
"""The last sentence of every report with a verdict."""
