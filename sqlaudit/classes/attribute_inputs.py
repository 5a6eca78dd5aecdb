"""The inputs of one sensitive attribute, on its lanes: what users name by value becomes numbers of lanes.

Lanes are ranks of the values; only they reach SQL. Messages count values and name the place in the file, never a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.nodes import Name
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Folding
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.inputs import OF_AN_ATTRIBUTE, Curve, Distances, Numbers, ValueList
from sqlaudit.hierarchies.read import Tree

ABSENT = -1
"""Stands for a declared value that the table does not hold."""


@dataclass(frozen=True)
class Categories:
    """Categories and the don't-care set by lanes. `place` is where the categories stand in the file."""

    names: tuple[str, ...]
    lanes: tuple[tuple[int, ...], ...]
    dont_care: tuple[int, ...]
    place: str

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The categories, and the don't-care set last."""
        return (*self.lanes, self.dont_care)


@dataclass(frozen=True)
class Required:
    """Values that must occur: the lanes of those that the table holds, and how many it does not hold."""

    lanes: tuple[int, ...]
    absent: int


@dataclass(frozen=True)
class TreeLevels:
    """A tree by lanes: its height, and for each depth below the root (1, 2, …) the lanes that share a node."""

    height: int
    levels: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True)
class ClassFunction:
    """A number for every lane.

    Args:
        identity: the values themselves, which then never stand in SQL. curve: what makes the numbers from the values.
    """

    numbers: tuple[Fraction, ...]
    identity: bool
    curve: Curve | None = None

    @property
    def of_value(self) -> bool:
        """Whether the numbers follow from the values, so that they are computed where these are."""
        return self.identity or self.curve is not None


def inputs_of(
    inputs: Mapping[str, Any], label: str | None, table: SensitiveTable | None, values: Folding | None = None
) -> Mapping[str, Any]:
    """The inputs for one sensitive attribute: those of the whole file, and those of its section."""
    own = dict(inputs)
    sections: Mapping[str, Mapping[str, Any]] = own.pop("sensitive", {})
    if label is not None:
        folded = {name.casefold(): section for name, section in sections.items()}
        own |= sections.get(label, folded.get(label.casefold(), {}))
    return AttributeInputs(own, table, values is Folding.FOLD) if table is not None else own


def refuse_unclear(inputs: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Inputs at the top level belong to the one sensitive attribute; with several it is not known to which.

    Raises:
        UsageError: there are several.
    """
    unclear = [key for key in inputs if key in OF_AN_ATTRIBUTE]
    if unclear and len(labels) > 1:
        raise UsageError(
            f"The inputs have {unclear[0]!r} at the top level, but there are {len(labels)} sensitive attributes. "
            "Put it under 'sensitive' and the attribute's name."
        )


class AttributeInputs(Mapping[str, Any]):
    """Inputs by name; each is brought to lanes when a model asks for it, so that only what is used can be wrong."""

    def __init__(self, given: Mapping[str, Any], table: SensitiveTable, folded: bool = False) -> None:
        self._given, self._table, self._folded = given, table, folded

    def __contains__(self, key: object) -> bool:
        return key in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __getitem__(self, key: str) -> Any:
        if key == "dont_care" and key not in self._given:
            return ()
        value = self._given[key]
        resolvers: Mapping[str, Callable[[Any], Any]] = {
            "categories": self._categories,
            "dont_care": self._present,
            "must_occur": self._required,
            "order": self._order,
            "tree": self._tree,
            "class_function": self._class_function,
            "distances": self._distances,
            "alpha": self._alpha,
        }
        return resolvers[key](value) if key in resolvers else value

    def get(self, key: str, default: Any = None) -> Any:
        """As a mapping's, without a KeyError for what has an own default."""
        return self[key] if key in self._given else default

    # --- names of values to lanes ---

    @cached_property
    def _index(self) -> dict[Name, int]:
        """Lanes by every way to name their value; the text that Python shows wins."""
        table = self._table
        index: dict[Name, int] = {}
        for forms in zip(*(_forms(value) for value in table.values), strict=True):
            for lane, form in enumerate(forms):
                index.setdefault(form, lane)
        if table.has_null:
            index[None] = table.distinct - 1
        return index

    def _lane(self, name: Name) -> int:
        if name is None or name in self._index:
            return self._index.get(name, ABSENT)
        if self._folded:
            return self._index.get(" ".join(str(name).casefold().split()), ABSENT)
        if self._table.text:
            return ABSENT
        return self._index.get(_plain(name), ABSENT)

    def _lanes(self, names: Sequence[Name], place: str) -> list[int]:
        lanes = [self._lane(name) for name in names]
        present = [lane for lane in lanes if lane != ABSENT]
        if len(set(present)) < len(present):
            raise UsageError(f"{place}: a value of {self._table.name} is listed twice, in two spellings.")
        return lanes

    def _complete(self, lanes: Sequence[int], place: str, where: str) -> None:
        """Every value of the table must be named."""
        missing = set(range(self._table.distinct)).difference(lanes)
        if not missing:
            return
        null_is_missing = self._table.has_null and self._table.distinct - 1 in missing
        null = " (one of them NULL, which is written null)" if null_is_missing else ""
        count = len(missing)
        raise UsageError(
            f"{place}: {count:,} value{'s' if count > 1 else ''} of {self._table.name}{null} "
            f"{'are' if count > 1 else 'is'} missing {where}."
        )

    # --- one resolver an input ---

    def _present(self, listed: ValueList) -> tuple[int, ...]:
        return tuple(lane for lane in self._lanes(listed.names, listed.place) if lane != ABSENT)

    def _categories(self, given: Mapping[str, ValueList]) -> Categories:
        lanes = tuple(self._present(listed) for listed in given.values())
        place = next((listed.place for listed in given.values()), "the inputs")
        unwatched: tuple[int, ...] = self["dont_care"]
        for listed, found in zip(given.values(), lanes, strict=True):
            if set(found).intersection(unwatched):
                raise UsageError(f"{listed.place}: a value of this category is also under 'dont_care'.")
        named = [lane for found in (*lanes, unwatched) for lane in found]
        self._complete(named, place, "from every category and from 'dont_care'")
        return Categories(tuple(given), lanes, unwatched, place)

    def _required(self, listed: ValueList) -> Required:
        present = self._present(listed)
        return Required(present, len(listed.names) - len(present))

    def _order(self, listed: ValueList) -> tuple[int, ...]:
        lanes = self._lanes(listed.names, listed.place)
        self._complete(lanes, listed.place, "from 'order'")
        return tuple(lanes)

    def _tree(self, tree: Tree) -> TreeLevels:
        leaves = list(tree.leaves)
        named = dict(zip(self._lanes(leaves, tree.place), leaves, strict=True))
        self._complete(list(named), tree.place, "from the tree")
        lanes = [named[lane] for lane in range(self._table.distinct)]
        levels = tuple(
            tuple(tuple(group) for group in tree.groups(lanes, depth)) for depth in range(1, tree.height + 1)
        )
        return TreeLevels(tree.height, levels)

    def _class_function(self, given: Numbers) -> ClassFunction:
        """cf of every lane, exactly."""
        if given.distribution:
            numbers = self._cumulated(given.place)
        elif given.values is None:
            of_values = (self._number(value, given) for value in self._table.values)
            numbers = tuple(of_values if given.curve is None else map(given.curve.at, of_values))
        else:
            by_lane = self._numbers(given)
            self._complete(list(by_lane), given.place, "from 'class_function'")
            numbers = tuple(by_lane[lane] for lane in range(self._table.distinct))
        in_order = numbers[:-1] if self._table.has_null else numbers
        if self._table.ordered and any(a > b for a, b in pairwise(in_order)):
            raise UsageError(
                f"{given.place}: a class function must not fall, but a larger value of {self._table.name} has a "
                "smaller number."
            )
        return ClassFunction(numbers, given.identity, given.curve)

    def _cumulated(self, place: str) -> tuple[Fraction, ...]:
        """For every lane the share of the table's rows whose value is not larger."""
        table = self._table
        order = list(self["order"]) if "order" in self._given else list(range(table.distinct))
        if "order" not in self._given and (not table.ordered or table.has_null):
            raise UsageError(
                f"{place}: the distribution needs an order of the values of {table.name}, and "
                f"{'missing ones have' if table.ordered else 'texts have'} none. Declare one under 'order'."
            )
        sums = accumulate(table.totals[lane] if lane >= 0 else 0 for lane in order)
        by_lane = {lane: Fraction(so_far, table.total) for lane, so_far in zip(order, sums, strict=True)}
        return tuple(by_lane[lane] for lane in range(table.distinct))

    def _distances(self, given: Distances) -> tuple[tuple[Fraction, ...], ...]:
        """How far each lane is from each."""
        names = list(dict.fromkeys(name for pair in given.pairs for name in pair))
        by_name = dict(zip(names, self._lanes(names, given.place), strict=True))
        self._complete(list(by_name.values()), given.place, "from 'distances'")
        found = {(lane, lane): Fraction(0) for lane in range(self._table.distinct)}
        for (one, other), number in given.pairs.items():
            found[by_name[one], by_name[other]] = found[by_name[other], by_name[one]] = number
        lanes = range(self._table.distinct)
        missing = sum((one, other) not in found for one in lanes for other in lanes) // 2
        if missing:
            raise UsageError(f"{given.place}: {missing:,} pairs of values of {self._table.name} have no distance.")
        if any(found[a, c] > found[a, b] + found[b, c] for a in lanes for b in lanes for c in lanes):
            raise UsageError(
                f"{given.place}: a distance is longer than the sum of two others that lead to the same value "
                "(triangle inequality)."
            )
        return tuple(tuple(found[one, other] for other in lanes) for one in lanes)

    def _alpha(self, given: Numbers) -> tuple[Fraction, ...]:
        """The factor of every lane; 1 where nothing is known."""
        by_lane = self._numbers(given)
        return tuple(by_lane.get(lane, Fraction(1)) for lane in range(self._table.distinct))

    def _numbers(self, given: Numbers) -> dict[int, Fraction]:
        values = given.values or {}
        lanes = self._lanes(list(values), given.place)
        return {lane: number for lane, number in zip(lanes, values.values(), strict=True) if lane != ABSENT}

    def _number(self, value: Any, given: Numbers) -> Fraction:
        place = given.place
        if value is None:
            raise UsageError(
                f"{place}: {self._table.name} has NULLs, which are not numbers. Leave them out with "
                f"{spelled('where')}, or give 'class_function' as a mapping that names null."
            )
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not Decimal(value).is_finite():
            raise UsageError(
                f"{place}: {'a curve' if given.curve else repr('identity')} needs finite numbers, but "
                f"{self._table.name} has other values. Give 'class_function' as a mapping."
            )
        return Fraction(value)


def _forms(value: Any) -> tuple[Name, Name]:
    """How a value can be named: as Python shows it, and without regard to letters' case or how numbers are written."""
    if value is None:
        return None, None
    text = value.hex() if isinstance(value, bytes | bytearray) else str(value)
    return text, text if isinstance(value, str) else _plain(text)


def _plain(text: str) -> str:
    """A number in one spelling, anything else in small letters."""
    try:
        number = Decimal(text)
        if number.is_finite():
            return str(number.normalize(Context(prec=max(28, len(text)))) if number else Decimal(0))
    except ArithmeticError:
        pass
    return text.casefold()
