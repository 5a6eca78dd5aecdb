"""Frozen dataclasses that cost nothing until the first one is made.

The standard library looks at every field and compiles six methods when a frozen dataclass is defined, most of a
millisecond; an audit imports some two hundred of them, and uses half. Here all of that waits until somebody makes one,
or asks for the fields; then one method is compiled, `__init__`, and the others are plain functions that read the
fields. What a class does is the same, and the standard library takes it for one of its own. What it would refuse of a
definition (a list as a default) is refused when the first one is made.
"""

from __future__ import annotations

import dataclasses
import inspect
import threading
from collections.abc import Callable, Iterator
from functools import cache
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
        return lambda given: (
            _quick(given, options.get("eq") is False)
            if _is_plain(given, options)
            else dataclasses.dataclass(given, **options)
        )


__all__ = ["dataclass"]


class _Standard:
    """What the standard library writes down of a frozen dataclass."""


class _StandardByPlace:
    """The same of one whose instances are equal to themselves alone."""


dataclasses.dataclass(frozen=True)(_Standard)
dataclasses.dataclass(frozen=True, eq=False)(_StandardByPlace)
_OPTIONS = ({"frozen": True}, {"frozen": True, "eq": False})
_NOT_GIVEN = object()
_COMPLETING = threading.RLock()


def _is_plain(cls: type, options: dict[str, Any]) -> bool:
    """Return True if this module knows everything that such a class may have."""
    if options not in _OPTIONS or any("__dataclass_fields__" in above.__dict__ for above in cls.__mro__[1:]):
        return False
    kinds = map(str, inspect.get_annotations(cls).values())
    return not any("InitVar" in kind or "KW_ONLY" in kind for kind in kinds)


def _quick(cls: Any, by_place: bool) -> Any:
    cls.__dataclass_fields__, cls.__signature__ = (
        _AttributeLater(cls, "__dataclass_fields__"),
        _AttributeLater(cls, "__signature__"),
    )
    standard: Any = _StandardByPlace if by_place else _Standard
    cls.__dataclass_params__ = standard.__dataclass_params__
    cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
    for name, method in _methods(cls):
        if not (by_place and name in {"__eq__", "__hash__"}) and cls.__dict__.get(name) is None:
            method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    return cls


class _AttributeLater:
    """An attribute that a class has when it is a whole one: it becomes one when somebody asks for it.

    What a class takes, its `__signature__`, is then said by its method.
    """

    def __init__(self, cls: Any, name: str) -> None:
        self._cls, self._name = cls, name

    def __get__(self, instance: object, owner: type) -> Any:
        _complete(self._cls)
        return getattr(self._cls, self._name)


def _complete(cls: Any) -> None:
    """Do what the standard library does when a class is defined."""
    with _COMPLETING:
        if not isinstance(cls.__dict__["__dataclass_fields__"], _AttributeLater):
            return
        own, params = cls.__dict__["__init__"], cls.__dataclass_params__
        del cls.__signature__
        dataclasses.dataclass(cls, init=False, repr=False, eq=False)
        cls.__dataclass_params__ = params
        if hasattr(own, "stands_in"):
            made = _init(cls)
            made.__name__, made.__qualname__ = "__init__", f"{cls.__qualname__}.__init__"
            type.__setattr__(cls, "__init__", made)


def _methods(cls: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Return the methods that are different from class to class, with their names."""
    compared = _values(cls, lambda each: each.compare)
    hashed = _values(cls, lambda each: each.compare if each.hash is None else each.hash)

    def first(self: Any, /, *given: Any, **named: Any) -> None:
        _complete(cls)
        cls.__init__(self, *given, **named)

    first.stands_in = True  # type: ignore[attr-defined]

    def equal(self: Any, other: object) -> bool:
        return compared()(self) == compared()(other) if other.__class__ is self.__class__ else NotImplemented

    def hashing(self: Any) -> int:
        return hash(hashed()(self))

    @recursive_repr()
    def text(self: Any) -> str:
        shown = [each.name for each in dataclasses.fields(cls) if each.repr]
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    yield from (("__init__", first), ("__eq__", equal), ("__hash__", hashing), ("__repr__", text))


def _values(
    cls: Any, wanted: Callable[[dataclasses.Field[Any]], bool | None]
) -> Callable[[], Callable[[Any], tuple[Any, ...]]]:
    """What finds, when it is first needed, what takes the wanted fields of a class as a tuple."""

    @cache
    def taken() -> Callable[[Any], tuple[Any, ...]]:
        names = [each.name for each in dataclasses.fields(cls) if wanted(each)]
        return attrgetter(*names) if len(names) > 1 else lambda of: tuple(getattr(of, name) for name in names)

    return taken


def _init(cls: Any) -> Callable[..., None]:
    """Return the one method that has to be compiled: its parameters are the fields."""
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
    """Return True if an attribute is a field, or the class itself a dataclass; a plain class below one may have
    others.
    """
    return "__dataclass_fields__" in type(of).__dict__ or name in of.__dataclass_fields__
