"""Frozen dataclasses that cost little to define.

The standard library compiles six methods for each frozen dataclass, most of a millisecond; an audit imports some two
hundred of them, which was a fifth of what a small audit cost. Here one method is compiled, `__init__`, and the others
are plain functions that read the fields. What a class does is the same, and the standard library takes it for one of
its own.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """`dataclasses.dataclass` with the same options, quicker where these are `frozen=True` alone and no base is a
        dataclass."""
        if cls is not None:
            return dataclasses.dataclass(cls)
        return lambda given: _quick(given) if _is_plain(given, options) else dataclasses.dataclass(given, **options)


__all__ = ["dataclass"]


@dataclasses.dataclass(frozen=True)
class _Standard:
    """What the standard library writes down of a frozen dataclass."""


_NOT_GIVEN = object()


def _is_plain(cls: type, options: dict[str, Any]) -> bool:
    """Whether this module knows everything that such a class may have."""
    if options != {"frozen": True} or any(hasattr(base, "__dataclass_fields__") for base in cls.__bases__):
        return False
    kinds = map(str, inspect.get_annotations(cls).values())
    return not any("InitVar" in kind or "KW_ONLY" in kind for kind in kinds)


def _quick(cls: Any) -> Any:
    dataclasses.dataclass(cls, init=False, repr=False, eq=False)
    cls.__dataclass_params__ = _Standard.__dataclass_params__  # type: ignore[attr-defined]
    for name, method in _methods(cls):
        if cls.__dict__.get(name) is None:
            method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
    return cls


def _methods(cls: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods that are different from class to class, with their names."""
    compared = _values([each.name for each in dataclasses.fields(cls) if each.compare])
    hashed = _values([f.name for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash)])
    shown = [each.name for each in dataclasses.fields(cls) if each.repr]

    def equal(self: Any, other: object) -> bool:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hashing(self: Any) -> int:
        return hash(hashed(self))

    @recursive_repr()
    def text(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    yield from (("__init__", _init(cls)), ("__eq__", equal), ("__hash__", hashing), ("__repr__", text))


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What takes the fields of these names as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda of: tuple(getattr(of, name) for name in names)


def _init(cls: Any) -> Callable[..., None]:
    """The one method that has to be compiled: its parameters are the fields."""
    fields = dataclasses.fields(cls)
    named = [_parameter(each) for each in fields if each.init and each.kw_only]
    taken = [_parameter(each) for each in fields if each.init and not each.kw_only]
    does = [f"_set_(self, {each.name!r}, {_value(each)})" for each in fields if each.init or _is_made(each)]
    does += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    known: dict[str, Any] = {"_set_": object.__setattr__, "_not_given_": _NOT_GIVEN}
    known |= {f"_default_{each.name}": each.default_factory if _is_made(each) else each.default for each in fields}
    signature = ", ".join(["self", *taken, *(["*", *named] if named else [])])
    exec(f"def __init__({signature}):\n  " + "\n  ".join(does or ["pass"]), known)
    init: Callable[..., None] = known["__init__"]
    init.__annotations__ = {each.name: each.type for each in fields if each.init} | {"return": None}
    init.__module__ = cls.__module__
    return init


def _is_made(each: dataclasses.Field[Any]) -> bool:
    return each.default_factory is not dataclasses.MISSING


def _parameter(each: dataclasses.Field[Any]) -> str:
    if _is_made(each):
        return f"{each.name}=_not_given_"
    return each.name if each.default is dataclasses.MISSING else f"{each.name}=_default_{each.name}"


def _value(each: dataclasses.Field[Any]) -> str:
    if not _is_made(each):
        return each.name
    made = f"_default_{each.name}()"
    return f"{made} if {each.name} is _not_given_ else {each.name}" if each.init else made


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    if _is_frozen(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if _is_frozen(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_frozen(of: Any, name: str) -> bool:
    """Whether an attribute is a field, or the class itself a dataclass; a plain class below one may have others."""
    return "__dataclass_fields__" in type(of).__dict__ or name in of.__dataclass_fields__
