"""Results as JSON documents: a dataclass is told by its fields, in their order, each under its name.

What differs stands at the field, as its metadata: `field(metadata=key("target.rows") | OR_NULL)`. What is no field is a
property or method under `told`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeVar

from sqlaudit.base.frozen import dataclass

Told = dict[str, Any]
Method = TypeVar("Method", bound=Callable[[Any], Any])
MAX_DIGITS = 1000
"""A fraction with more digits than this above or below the line is told as a float only."""


def key(name: str) -> Told:
    """The field stands under another key; `target.rows` is the key `rows` of an object `target`."""
    return {"key": name}


def after(name: str) -> Told:
    """The field stands behind this one."""
    return {"after": name}


def shown(change: Callable[[Any], Any]) -> Told:
    """What `change` makes of the field stands in its place."""
    return {"shown": change}


def objects(*names: str) -> Told:
    """The field holds tuples; each is told as an object with these keys."""
    return shown(lambda found: [dict(zip(names, one, strict=True)) for one in found])


def exactly(name: str) -> Told:
    """The field is told as a float, and beside it under this key as an exact fraction."""
    return AS_FLOAT | {"exact": name}


def as_float(value: Any) -> Any:
    """Numbers as floats, whole ones too; also inside sequences and mappings. What is missing stays None."""
    if isinstance(value, Mapping):
        return {name: as_float(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_float(one) for one in value]
    return None if value is None else float(value)


def as_text(value: Any) -> Any:
    """Values as texts, also inside sequences and mappings; what is missing stays None."""
    if isinstance(value, Mapping):
        return {name: as_text(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_text(one) for one in value]
    return None if value is None else str(value)


def exact_text(value: Fraction) -> str | None:
    """A fraction as text, for instance `2/5`; None beyond `MAX_DIGITS` digits."""
    longest = 10**MAX_DIGITS
    return str(value) if value.numerator < longest and value.denominator < longest else None


LEFT_OUT: Told = {"left_out": True}
"""The field is not in the document."""
LAST: Told = {"last": True}
"""The field stands behind all others, those of derived classes too."""
HERE: Told = {"here": True}
"""The keys of the field's own document stand in its place."""
IF_ANY: Told = {"if_any": True}
"""The key is there only when there is something to tell."""
OR_NULL: Told = shown(lambda value: value or None)
"""What is empty is null."""
AS_FLOAT: Told = shown(as_float)
AS_TEXT: Told = shown(as_text)


def told(behind: str, metadata: Told | None = None) -> Callable[[Method], Method]:
    """A property or method that is part of the document, behind that field or method; first behind nothing."""

    def mark(method: Method) -> Method:
        method.__dict__["_told"] = after(behind) | (metadata or {})
        return method

    return mark


class Documented:
    """A dataclass with a JSON document."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The document, as the JSON schema has it."""
        out: dict[str, Any] = {}
        kind: Any = type(self)
        for part in _parts(kind):
            part.tell(self, out)
        return out


def plain(value: Any) -> Any:
    """A value as JSON knows it: fractions become floats (integers when whole), infinity and NaN become null.

    Results become their documents. Values that JSON has no type for (decimals, dates, identifiers, bytes) become text.
    """
    if isinstance(value, Documented):
        return value.to_dict()
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(plain(name)): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
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
class _Part:
    """What one field or method adds to a document."""

    name: str
    how: Mapping[str, Any]

    def tell(self, result: object, out: dict[str, Any]) -> None:
        """Put it into the document so far."""
        found = getattr(result, self.name)
        value = found() if self.how.get("call") else found
        shown_as = plain(self.how["shown"](value) if "shown" in self.how else value)
        if self.how.get("here"):
            out |= shown_as
        elif shown_as or not self.how.get("if_any"):
            self._put(out, self.how.get("key", self.name), shown_as)
            if "exact" in self.how:
                self._put(out, self.how["exact"], exact_text(value))

    @staticmethod
    def _put(out: dict[str, Any], path: str, value: Any) -> None:
        *outer, last = path.split(".")
        for name in outer:
            out = out.setdefault(name, {})
        out[last] = value


@cache
def _parts(kind: Any) -> tuple[_Part, ...]:
    """What makes the document of a class, in order."""
    own = [_Part(one.name, one.metadata) for one in fields(kind) if not one.name.startswith("_")]
    own = sorted((part for part in own if "left_out" not in part.how), key=lambda part: "last" in part.how)
    parts = [part for part in own if "after" not in part.how]
    waiting = [*(part for part in own if "after" in part.how), *_computed(kind)]
    while waiting:
        names = ["", *(part.name for part in parts)]
        part = next(part for part in waiting if part.how["after"] in names)
        parts.insert(names.index(part.how["after"]), part)
        waiting.remove(part)
    return tuple(parts)


def _computed(kind: type) -> Iterator[_Part]:
    for base in reversed(kind.__mro__):
        for name, member in vars(base).items():
            method = getattr(member, "fget", None) or getattr(member, "func", member)
            if how := getattr(method, "_told", None):
                yield _Part(name, how | {"call": method is member})
