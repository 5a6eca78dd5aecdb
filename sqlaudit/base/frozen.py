"""Frozen dataclasses that cost nothing until the first instance is made.

The standard library inspects all fields and compiles six methods when a frozen dataclass is defined, most of a
millisecond; an audit imports some two hundred of them, and uses half. Here all of that waits until an instance is made,
or the fields are read; then one method is compiled, `__init__`, and the others are plain functions that read the
fields. The behaviour is the same, and the standard library takes the class for one of its own. A definition that it
would refuse (a list as a default) is refused when the first instance is made.
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
        """Return a dataclass as `dataclasses.dataclass` does, faster for `frozen=True` alone without inheritance."""
        if cls is not None:
            return dataclasses.dataclass(cls)
        return lambda decorated: (
            _make_lazy(decorated, options.get("eq") is False)
            if _is_plain(decorated, options)
            else dataclasses.dataclass(decorated, **options)
        )


__all__ = ["dataclass"]


class _Standard:
    """A frozen dataclass of the standard library, whose parameters are copied."""


class _StandardByPlace:
    """A frozen dataclass of the standard library whose instances are equal only to themselves."""


dataclasses.dataclass(frozen=True)(_Standard)
dataclasses.dataclass(frozen=True, eq=False)(_StandardByPlace)
_OPTIONS = ({"frozen": True}, {"frozen": True, "eq": False})
_NOT_GIVEN = object()
_COMPLETING = threading.RLock()


def _is_plain(cls: type, options: dict[str, object]) -> bool:
    """Return True if this module supports all that the class and the options have."""
    if options not in _OPTIONS or any("__dataclass_fields__" in above.__dict__ for above in cls.__mro__[1:]):
        return False
    kinds = map(str, inspect.get_annotations(cls).values())
    return not any("InitVar" in kind or "KW_ONLY" in kind for kind in kinds)


def _make_lazy(cls: Any, by_place: bool) -> object:
    """Return the class with methods that complete it when they are first needed.

    Args:
        by_place: True if instances are equal only to themselves (`eq=False`).
    """
    cls.__dataclass_fields__, cls.__signature__ = (
        _AttributeLater(cls, "__dataclass_fields__"),
        _AttributeLater(cls, "__signature__"),
    )
    standard: Any = _StandardByPlace if by_place else _Standard
    cls.__dataclass_params__ = standard.__dataclass_params__
    cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
    for name, method in _lazy_methods(cls):
        if not (by_place and name in {"__eq__", "__hash__"}) and cls.__dict__.get(name) is None:
            method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    return cls


class _AttributeLater:
    """An attribute of a complete class: reading it completes the class.

    The `__signature__` of a complete class is that of its `__init__`.
    """

    def __init__(self, cls: Any, name: str) -> None:
        self._cls, self._name = cls, name

    def __get__(self, instance: object, owner: type) -> object:
        _complete(self._cls)
        return getattr(self._cls, self._name)


def _complete(cls: Any) -> None:
    """Complete a class as the standard library does when a class is defined."""
    with _COMPLETING:
        if not isinstance(cls.__dict__["__dataclass_fields__"], _AttributeLater):
            return
        init, params = cls.__dict__["__init__"], cls.__dataclass_params__
        del cls.__signature__
        dataclasses.dataclass(cls, init=False, repr=False, eq=False)
        cls.__dataclass_params__ = params
        if hasattr(init, "stands_in"):
            compiled = _compile_init(cls)
            compiled.__name__, compiled.__qualname__ = "__init__", f"{cls.__qualname__}.__init__"
            type.__setattr__(cls, "__init__", compiled)


def _lazy_methods(cls: Any) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield the methods that differ from class to class, with their names."""
    compared = _getter_later(cls, lambda field: field.compare)
    hashed = _getter_later(cls, lambda field: field.compare if field.hash is None else field.hash)

    def first(self: object, /, *arguments: object, **keywords: object) -> None:
        _complete(cls)
        cls.__init__(self, *arguments, **keywords)

    first.stands_in = True  # type: ignore[attr-defined]

    def equal(self: object, other: object) -> bool:
        return compared()(self) == compared()(other) if other.__class__ is self.__class__ else NotImplemented

    def hashing(self: object) -> int:
        return hash(hashed()(self))

    @recursive_repr()
    def text(self: object) -> str:
        names = [field.name for field in dataclasses.fields(cls) if field.repr]
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    yield from (("__init__", first), ("__eq__", equal), ("__hash__", hashing), ("__repr__", text))


def _getter_later(
    cls: Any, is_included: Callable[[dataclasses.Field[Any]], bool | None]
) -> Callable[[], Callable[[object], tuple[object, ...]]]:
    """Return a function that returns, made when first needed, the getter of a tuple of the included fields."""

    @cache
    def make_getter() -> Callable[[object], tuple[object, ...]]:
        names = [field.name for field in dataclasses.fields(cls) if is_included(field)]
        return (
            attrgetter(*names) if len(names) > 1 else lambda instance: tuple(getattr(instance, name) for name in names)
        )

    return make_getter


def _compile_init(cls: Any) -> Callable[..., None]:
    """Return the `__init__` of a class, the one method that must be compiled, since its parameters are the fields."""
    fields = dataclasses.fields(cls)
    keywords = [_parameter(field) for field in fields if field.init and field.kw_only]
    positional = [_parameter(field) for field in fields if field.init and not field.kw_only]
    body = [f"_set_(self, {field.name!r}, {_value(field)})" for field in fields if field.init or _has_factory(field)]
    body += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    scope: dict[str, Any] = {"_set_": object.__setattr__, "_not_given_": _NOT_GIVEN}
    scope |= {f"_default_{f.name}": f.default_factory if _has_factory(f) else f.default for f in fields}
    signature = ", ".join(["self", *positional, *(["*", *keywords] if keywords else [])])
    exec(f"def __init__({signature}):\n  " + "\n  ".join(body or ["pass"]), scope)
    init: Callable[..., None] = scope["__init__"]
    init.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    init.__module__ = cls.__module__
    return init


def _has_factory(field: dataclasses.Field[object]) -> bool:
    return field.default_factory is not dataclasses.MISSING


def _parameter(field: dataclasses.Field[object]) -> str:
    """Return the parameter of `__init__` for a field."""
    if _has_factory(field):
        return f"{field.name}=_not_given_"
    return field.name if field.default is dataclasses.MISSING else f"{field.name}=_default_{field.name}"


def _value(field: dataclasses.Field[object]) -> str:
    """Return the expression in `__init__` for the value of a field."""
    if not _has_factory(field):
        return field.name
    default = f"_default_{field.name}()"
    return f"{default} if {field.name} is _not_given_ else {field.name}" if field.init else default


def _refuse_to_set(self: object, name: str, value: object) -> None:
    if _is_frozen(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: object, name: str) -> None:
    if _is_frozen(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_frozen(instance: Any, name: str) -> bool:
    """Return True if an attribute is a field, or the class itself is a dataclass; subclasses may have more."""
    return "__dataclass_fields__" in type(instance).__dict__ or name in instance.__dataclass_fields__
