"""Frozen dataclasses of our own do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from sqlaudit.base import frozen

MAKERS = [frozen.dataclass, dataclasses.dataclass]


def families(dataclass: Any) -> list[Any]:
    """Classes of all sorts, made by one of both."""

    @dataclass(frozen=True)
    class Empty:
        """No field."""

    @dataclass(frozen=True)
    class One:
        """A single field."""

        only: int

    @dataclass(frozen=True)
    class Many:
        """Defaults, a factory, what is left out of comparing and showing, a constant."""

        first: int
        second: tuple[int, ...] = (1, 2)
        third: list[int] = field(default_factory=list, hash=False)
        fourth: str = field(default="x", repr=False)
        fifth: float = field(default=0.5, compare=False)
        sixth: int = field(default=7, kw_only=True)
        LIMIT: ClassVar[int] = 3

    @dataclass(frozen=True)
    class Checked:
        """A check, and a field that is made afterwards."""

        value: int
        double: int = field(init=False)
        seen: list[int] = field(init=False, default_factory=list, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "double", self.value * 2)

    @dataclass(frozen=True)
    class Below(Many):
        """A dataclass below one."""

        seventh: int = 9

    @dataclass(frozen=True)
    class Own:
        """Methods that are written out stay."""

        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and self.value % 10 == other.value % 10

        def __repr__(self) -> str:
            return "mine"

        def __hash__(self) -> int:
            return self.value % 10

    class Plain(One):
        """No dataclass, but below one."""

    @dataclass(frozen=True, order=True)
    class Ordered:
        """More than frozen."""

        value: int

    return [Empty, One, Many, Checked, Below, Own, Plain, Ordered]


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((13,), {}),
    ((1, (3,), [4], "y", 2.0), {}),
    ((1,), {"sixth": 8}),
    ((1, 2, 3, 4, 5, 6, 7), {}),
    ((), {"only": 4}),
    ((), {"nothing": 4}),
]
USES: list[Callable[[Any], object]] = [
    repr,
    hash,
    dataclasses.asdict,
    lambda made: repr(copy.deepcopy(made)),
    lambda made: made == copy.deepcopy(made),
    lambda made: made == "other",
    lambda made: made != copy.copy(made),
    lambda made: repr(dataclasses.replace(made, value=3)),
    lambda made: repr(dataclasses.replace(made, first=3)),
    lambda made: dataclasses.replace(made, fifth=3.0) == made,
    lambda made: setattr(made, "only", 1),
    lambda made: setattr(made, "value", 1),
    lambda made: setattr(made, "other", 1),
    lambda made: delattr(made, "first"),
    lambda made: delattr(made, "other"),
    lambda made: made < copy.copy(made),
    lambda made: (type(made).__name__, type(made).__qualname__, type(made).__match_args__),
    lambda made: [(each.name, each.type, each.default) for each in dataclasses.fields(made)],
]


def outcome(does: Callable[..., object], *given: Any, **named: Any) -> Any:
    """What comes of a call: its value, or the kind of its error with the sentence of a frozen one."""
    try:
        return does(*given, **named)
    except (TypeError, AttributeError) as error:
        return type(error), str(error) if isinstance(error, dataclasses.FrozenInstanceError) else ""


@pytest.mark.parametrize("number", range(8))
def test_ours_do_what_those_of_the_standard_library_do(number: int) -> None:
    ours, theirs = (families(made)[number] for made in MAKERS)
    for given, named in CALLS:
        both = [outcome(cls, *given, **named) for cls in (ours, theirs)]
        assert isinstance(both[0], tuple) == isinstance(both[1], tuple), (given, named)
        for use in USES if not isinstance(both[0], tuple) else ():
            first, second = (outcome(use, made) for made in both)
            assert first == second or (use is hash and not isinstance(second, tuple)), (given, named, use)


@pytest.mark.parametrize("number", range(8))
def test_help_says_what_a_class_takes(number: int) -> None:
    ours, theirs = (inspect.signature(families(made)[number]) for made in MAKERS)
    assert list(ours.parameters) == list(theirs.parameters)
    for mine, other in zip(ours.parameters.values(), theirs.parameters.values(), strict=True):
        assert (mine.kind, mine.annotation) == (other.kind, other.annotation)
        assert (mine.default is mine.empty) == (other.default is other.empty)


def test_equal_ones_are_one_key() -> None:
    many = families(frozen.dataclass)[2]
    assert {many(1, fifth=1.0): "a"}[many(1, third=[], fifth=2.0)] == "a"
    assert many(1) != many(2)
    assert many(1) != families(frozen.dataclass)[2](1), "classes of the same name are not the same class"


def test_the_standard_library_takes_ours_for_its_own() -> None:
    one = families(frozen.dataclass)[1]

    @dataclasses.dataclass(frozen=True)
    class Below(one):  # type: ignore[misc, valid-type]
        more: int

    assert Below(1, 2) == Below(1, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Below(1, 2).only = 3
    with pytest.raises(TypeError, match="non-frozen"):
        dataclasses.dataclass(type("Open", (one,), {}))
