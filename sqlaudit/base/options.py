"""An option is written once: as a field of a request, which says how it is read, checked, called and explained.

The command line makes options from these fields, and every edge makes the request from what it was given, with the same
checks: `request_from`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import exact_number, exact_share
from sqlaudit.base.words import spelled

T = TypeVar("T")
_OPTION = "option"


@dataclass(frozen=True)
class OptionKind:
    """What an option takes.

    Args:
        name: how the command line knows it. read: the value of the field, from its name and what was given; None stays.
        words: the words that may be given, when only some may.
    """

    name: str
    read: Callable[[str, Any], Any]
    words: tuple[str, ...] = ()


def several(names: Iterable[str] | str) -> tuple[str, ...]:
    """Names as Python gives them: several, or a single text, which is one of them."""
    return (names,) if isinstance(names, str) else tuple(names)


def _as_it_is(_: str, value: Any) -> Any:
    return value


def _share(name: str, value: Any) -> Fraction:
    try:
        return exact_share(value)
    except UsageError:
        written = str(value)[:60]
        raise UsageError(f"{spelled(name)} takes a share such as 0.01 or 1%; {written!r} is none.") from None


def _number(name: str, value: Any) -> Fraction:
    try:
        return exact_number(value)
    except UsageError:
        raise UsageError(f"{spelled(name)} takes a number, for instance 0.5; {str(value)[:60]!r} is none.") from None


def _not_negative(name: str, value: Any) -> Fraction:
    try:
        return exact_number(value)
    except UsageError:
        said = f"is a number of 0 or more, for instance 0.5; {str(value)[:60]!r} is none."
        raise UsageError(f"{spelled(name)} {said}") from None


def _weights(name: str, value: Mapping[str, Any]) -> dict[str, Fraction]:
    try:
        return {column: exact_share(weight) for column, weight in value.items()}
    except UsageError as error:
        raise UsageError(f"{spelled(name)} takes a number for a column. {error}") from None


FLAG = OptionKind("flag", _as_it_is)
SWITCH = OptionKind("switch", _as_it_is)
"""True, False, or nothing said."""
WHOLE = OptionKind("whole", _as_it_is)
"""A whole number."""
MOST = OptionKind("most", _as_it_is)
"""A whole number, or `all`."""
SHARE = OptionKind("share", _share)
NUMBER = OptionKind("number", _number)
NOT_NEGATIVE = OptionKind("number", _not_negative)
SECONDS = OptionKind("seconds", _as_it_is)
MEMORY = OptionKind("memory", _as_it_is)
RANGE = OptionKind("range", _as_it_is)
"""A whole number whose bounds the help page tells."""
TEXT = OptionKind("text", _as_it_is)
TEXTS = OptionKind("texts", lambda _, value: several(value))
DELIMITER = OptionKind("delimiter", _as_it_is)
VIEW = OptionKind("view", _as_it_is)
"""The name of a view, which the command line takes when it is not empty."""
COLUMN = OptionKind("column", _as_it_is)
"""One column."""
NAMES = OptionKind("names", lambda _, value: several(value))
"""Columns, or other names."""
QUERIES = OptionKind("queries", lambda _, value: several(value))
"""Texts, which the command line reads from files."""
ORDERED = OptionKind("ordered", lambda _, value: several(value))
"""Columns in an order, which the command line takes once."""
WEIGHTS = OptionKind("weights", _weights)
FILE = OptionKind("file", lambda _, value: Path(value))
FOLDER = OptionKind("file", lambda _, value: str(value))
TABLE = OptionKind("table", _as_it_is)
"""Another table, which the command line names and reads as it reads the target."""
SOURCE = OptionKind("source", _as_it_is)
"""A file or folder, or in Python what would be in it."""


def listed(words: Iterable[str]) -> OptionKind:
    """One of some words, where the request itself says what is wrong with another."""
    return OptionKind("choice", _as_it_is, tuple(words))


def one_of(*words: str) -> OptionKind:
    """One of some words, as a text."""

    def read(name: str, value: Any) -> str:
        if value not in words:
            raise UsageError(f"{spelled(name)} is one of {', '.join(words)}, not {str(value)[:60]!r}.")
        return str(value)

    return OptionKind("choice", read, words)


def choice(of: type[StrEnum]) -> OptionKind:
    """One of some words."""

    def read(name: str, value: Any) -> StrEnum:
        try:
            return of(value)
        except ValueError:
            said = ", ".join(one.value for one in of)
            raise UsageError(f"{spelled(name)} is one of {said}, not {str(value)[:60]!r}.") from None

    return OptionKind("choice", read, tuple(one.value for one in of))


@dataclass(frozen=True)
class Option:
    """What a field says of itself.

    Args:
        name: the parameter of this option; the field's own name unless it has another one inside.
        kind: what it takes. help, section, metavar: of the help page.
        flags: how the command line spells it; empty = like the parameter. shown: the text of the default, when the help
            page tells it. least, most, above, below: the bounds of a number, None = none. every: what `all` stands for.
        only_python: the command line says it in another way.
    """

    name: str
    kind: OptionKind
    help: str
    section: str
    metavar: str | None = None
    flags: tuple[str, ...] = ()
    shown: str = ""
    alone: str = ""
    default: Any = None
    least: int | None = None
    most: int | None = None
    above: int | None = None
    below: int | None = None
    every: int | None = None
    only_python: bool = False

    def check(self, value: Any) -> None:
        """Nothing when a number is within its bounds.

        Raises:
            UsageError: it is not.
        """
        low = (self.least is None or value >= self.least) and (self.above is None or value > self.above)
        if not (low and (self.most is None or value <= self.most) and (self.below is None or value < self.below)):
            raise UsageError(f"{spelled(self.name)} is {self._bounds()}; it is {value}.")

    def _bounds(self) -> str:
        if self.kind in (SECONDS, NOT_NEGATIVE):
            return f"a {'time of 0 seconds' if self.kind is SECONDS else 'number of 0'} or more"
        if self.kind is SHARE and self.least is not None and self.most is not None:
            return f"a share from {self.least} to {self.most} (100%)"
        named = (("at least", self.least), ("above", self.above), ("at most", self.most), ("below", self.below))
        said = " and ".join(f"{how} {bound:,}" for how, bound in named if bound is not None)
        return f"a share of {said}" if self.kind is SHARE else said


def option(default: Any, kind: OptionKind, help: str, section: str, **more: Any) -> Any:
    """A field that is an option.

    Args:
        default: of the field. kind, help, section, more: as `Option` has them.
    """
    metadata = {_OPTION: {"kind": kind, "help": help, "section": section, "default": default, **more}}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata, repr=kind is not SOURCE)


def options_of(request: type[Any]) -> Iterator[tuple[str, Option]]:
    """The options among the fields of a request, by the field's name."""
    for one in fields(request):
        if _OPTION in one.metadata:
            yield one.name, Option(**{"name": one.name, **one.metadata[_OPTION]})


def request_from(request: type[T], given: Mapping[str, Any], **more: Any) -> T:
    """A request from what was given for its options, each read as its field says.

    Args:
        request: the dataclass. given: values by parameter; others than options are passed over, and so is None where
            names or weights are taken. more: further fields.

    Raises:
        UsageError: a value that its option does not take, or whatever the request refuses.
    """
    for name, one in options_of(request):
        if one.name in given:
            value = given[one.name]
            if value is not None:
                more[name] = one.kind.read(one.name, value)
            elif not isinstance(one.default, tuple | dict):
                more[name] = None
    return request(**more)


def check_bounds(request: Any) -> None:
    """Nothing when every number of a request is within its bounds.

    Raises:
        UsageError: one is not.
    """
    for name, one in options_of(type(request)):
        value = getattr(request, name)
        if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
            one.check(value)
