"""Wrong types in Python calls, told by the parameter that has one: what a signature says is what is taken."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled

P = ParamSpec("P")
R = TypeVar("R")

_TAKEN: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a text"),
    "bool": (bool, "True or False"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "Path": (os.PathLike, "a path"),
    "Mapping": (Mapping, "a mapping"),
    "Sequence": (Iterable, "a list"),
    "Iterable": (Iterable, "a list"),
    "tuple": (Iterable, "a pair of texts"),
    "Fraction": (Fraction, "a Fraction"),
    "Decimal": (Decimal, "a Decimal"),
}
"""The types of signatures that are told; others are read, and told, where they are used."""


def wrong_types_told(function: Callable[P, R]) -> Callable[P, R]:
    """A function of the library whose callers are told which parameter has a type that it does not take.

    It looks at the types only when something failed, so that whatever works is taken; but at True and False before,
    since every text would be taken for True.

    Raises:
        UsageError: a value has none of the types that the signature says.

    Example:
        >>> @wrong_types_told
        ... def doubled(number: int) -> int:
        ...     return number + number.bit_length()
        >>> doubled("x")
        Traceback (most recent call last):
        sqlaudit.base.errors.UsageError: number= takes a whole number, not a value of type str.
    """

    @functools.wraps(function)
    def told(*args: P.args, **given: P.kwargs) -> R:
        for name, (annotation, value) in _given(function, args, given):
            if annotation == "bool" and type(value).__name__ not in ("bool", "bool_"):
                _refuse(name, annotation, value)
        try:
            return function(*args, **given)
        except (TypeError, AttributeError):
            for name, parameter in _given(function, args, given):
                _refuse(name, *parameter)
            raise

    return told


def _given(
    function: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]
) -> list[tuple[str, tuple[str, Any]]]:
    """The name of each parameter that was given, with what the signature says of it and its value."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **given).arguments
    except TypeError:  # too many, or a name that it does not have: Python's own words say that
        return []
    return [(name, (str(signature.parameters[name].annotation), value)) for name, value in bound.items()]


def _refuse(name: str, annotation: str, value: Any) -> None:
    kinds = [one.strip().partition("[")[0] for one in annotation.split(" | ")]
    known = [_TAKEN[kind] for kind in kinds if kind in _TAKEN]
    if value is None or not known or "Any" in kinds or any(isinstance(value, types) for types, _ in known):
        return
    if any(one.__name__ in kinds for one in type(value).__mro__):
        return
    words = list(dict.fromkeys(words for _, words in known))
    listed = " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    raise UsageError(f"{spelled(name)} takes {listed}, not a value of type {type(value).__name__}.") from None
