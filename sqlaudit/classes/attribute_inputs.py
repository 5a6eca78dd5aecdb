"""The inputs of one sensitive attribute by lane: values that users name become numbers of lanes.

A lane is the rank of a value; only lanes reach SQL. Messages count values and name the line of the file, never a value.
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
"""The lane of a declared value that is not in the table."""


@dataclass(frozen=True)
class Categories:
    """Categories and the don't-care set by lane.

    Args:
        names: the categories' names.
        lanes: the lanes of each category.
        dont_care: the lanes of the don't-care set.
        place: the line of the file with the first category.
    """

    names: tuple[str, ...]
    lanes: tuple[tuple[int, ...], ...]
    dont_care: tuple[int, ...]
    place: str

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The lanes of the categories, then of the don't-care set."""
        return (*self.lanes, self.dont_care)


@dataclass(frozen=True)
class RequiredValues:
    """Values that must occur in every class.

    Args:
        lanes: the lanes of those that are in the table.
        absent: the number of those that are not.
    """

    lanes: tuple[int, ...]
    absent: int


@dataclass(frozen=True)
class TreeLevels:
    """A tree by lane.

    Args:
        height: the levels below the root.
        levels: for each depth below the root (1, 2, …) the lanes that share a node.
    """

    height: int
    levels: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True)
class ClassFunction:
    """A number for every lane.

    Args:
        numbers: the numbers by lane.
        identity: whether the numbers are the values themselves, which no statement contains.
        curve: the function that computes the numbers from the values; None = they are listed.
    """

    numbers: tuple[Fraction, ...]
    identity: bool
    curve: Curve | None = None

    @property
    def of_value(self) -> bool:
        """True if the numbers follow from the values, so that the database computes them."""
        return self.identity or self.curve is not None


def inputs_of(
    inputs: Mapping[str, Any], label: str | None, table: SensitiveTable | None, values: Folding | None = None
) -> Mapping[str, Any]:
    """Return the inputs for one sensitive attribute: those of its section, and those that apply to all.

    Args:
        inputs: the inputs of the file.
        label: the user's name of the attribute; None = there is none.
        table: the attribute's values; None = inputs that name values stay as they are.
        values: the user's choice on spellings.
    """
    merged = dict(inputs)
    sections: Mapping[str, Mapping[str, Any]] = merged.pop("sensitive", {})
    if label is not None:
        by_folded_name = {name.casefold(): section for name, section in sections.items()}
        merged |= sections.get(label, by_folded_name.get(label.casefold(), {}))
    return AttributeInputs(merged, table, values is Folding.FOLD) if table is not None else merged


def refuse_ambiguous_inputs(inputs: Mapping[str, object], labels: Sequence[str]) -> None:
    """Refuse inputs at the top level that may belong to several sensitive attributes.

    Args:
        inputs: the inputs of the file.
        labels: the names of the sensitive attributes.

    Raises:
        UsageError: there are such inputs and several attributes.
    """
    ambiguous = [key for key in inputs if key in OF_AN_ATTRIBUTE]
    if ambiguous and len(labels) > 1:
        raise UsageError(
            f"The inputs have {ambiguous[0]!r} at the top level, but there are {len(labels)} sensitive attributes. "
            "Put it under 'sensitive' and the attribute's name."
        )


class AttributeInputs(Mapping[str, Any]):
    """The inputs of one attribute by name.

    Each is resolved to lanes when a model reads it, so that errors in inputs that no model needs do not matter.
    """

    def __init__(self, inputs: Mapping[str, object], table: SensitiveTable, folded: bool = False) -> None:
        self._inputs, self._table, self._folded = inputs, table, folded

    def __contains__(self, key: object) -> bool:
        return key in self._inputs

    def __iter__(self) -> Iterator[str]:
        return iter(self._inputs)

    def __len__(self) -> int:
        return len(self._inputs)

    def __getitem__(self, key: str) -> Any:
        """Return an input by lane. The don't-care set is empty if the file has none."""
        if key == "dont_care" and key not in self._inputs:
            return ()
        declared = self._inputs[key]
        resolvers: Mapping[str, Callable[[Any], object]] = {
            "categories": self._resolve_categories,
            "dont_care": self._resolve_present_values,
            "must_occur": self._resolve_required_values,
            "order": self._resolve_order,
            "tree": self._resolve_tree,
            "class_function": self._resolve_class_function,
            "distances": self._resolve_distances,
            "alpha": self._resolve_alpha,
        }
        return resolvers[key](declared) if key in resolvers else declared

    def get(self, key: str, default: object = None) -> object:
        """Return an input, or the default if the file does not have it."""
        return self[key] if key in self._inputs else default

    # --- names of values to lanes ---

    @cached_property
    def _index(self) -> dict[Name, int]:
        """The lanes by every name of their value. Python's text of a value takes precedence."""
        table = self._table
        index: dict[Name, int] = {}
        for names in zip(*(_names_of(value) for value in table.values), strict=True):
            for lane, name in enumerate(names):
                index.setdefault(name, lane)
        if table.has_null:
            index[None] = table.distinct - 1
        return index

    def _find_lane(self, name: Name) -> int:
        """Return the lane of the value with a name, `ABSENT` if it is not in the table."""
        if name is None or name in self._index:
            return self._index.get(name, ABSENT)
        if self._folded:
            return self._index.get(" ".join(str(name).casefold().split()), ABSENT)
        if self._table.text:
            return ABSENT
        return self._index.get(_normalize(name), ABSENT)

    def _find_lanes(self, names: Sequence[Name], location: str) -> list[int]:
        """Return the lane of each named value, `ABSENT` for those that are not in the table.

        Raises:
            UsageError: a value is named twice.
        """
        lanes = [self._find_lane(name) for name in names]
        present = [lane for lane in lanes if lane != ABSENT]
        if len(set(present)) < len(present):
            raise UsageError(f"{location}: a value of {self._table.name} is listed twice, in two spellings.")
        return lanes

    def _require_all(self, lanes: Sequence[int], location: str, where: str) -> None:
        """Raise UsageError if a value of the table is not named. `where` ends the sentence: "from the tree"."""
        missing = set(range(self._table.distinct)).difference(lanes)
        if not missing:
            return
        null_is_missing = self._table.has_null and self._table.distinct - 1 in missing
        null = " (one of them NULL, which is written null)" if null_is_missing else ""
        count = len(missing)
        raise UsageError(
            f"{location}: {count:,} value{'s' if count > 1 else ''} of {self._table.name}{null} "
            f"{'are' if count > 1 else 'is'} missing {where}."
        )

    # --- one resolver an input ---

    def _resolve_present_values(self, declared: ValueList) -> tuple[int, ...]:
        return tuple(lane for lane in self._find_lanes(declared.names, declared.place) if lane != ABSENT)

    def _resolve_categories(self, declared: Mapping[str, ValueList]) -> Categories:
        """Return the categories and the don't-care set, which together must have every value, each once."""
        lanes = tuple(self._resolve_present_values(category) for category in declared.values())
        first_location = next((category.place for category in declared.values()), "the inputs")
        dont_care: tuple[int, ...] = self["dont_care"]
        for category, members in zip(declared.values(), lanes, strict=True):
            if set(members).intersection(dont_care):
                raise UsageError(f"{category.place}: a value of this category is also under 'dont_care'.")
        named = [lane for members in (*lanes, dont_care) for lane in members]
        self._require_all(named, first_location, "from every category and from 'dont_care'")
        return Categories(tuple(declared), lanes, dont_care, first_location)

    def _resolve_required_values(self, declared: ValueList) -> RequiredValues:
        present = self._resolve_present_values(declared)
        return RequiredValues(present, len(declared.names) - len(present))

    def _resolve_order(self, declared: ValueList) -> tuple[int, ...]:
        lanes = self._find_lanes(declared.names, declared.place)
        self._require_all(lanes, declared.place, "from 'order'")
        return tuple(lanes)

    def _resolve_tree(self, tree: Tree) -> TreeLevels:
        """Return the lanes that share a node, for each depth of the tree. Leaves that the table lacks are dropped."""
        leaves = list(tree.leaves)
        leaf_of_lane = dict(zip(self._find_lanes(leaves, tree.place), leaves, strict=True))
        self._require_all(list(leaf_of_lane), tree.place, "from the tree")
        leaves_by_lane = [leaf_of_lane[lane] for lane in range(self._table.distinct)]
        levels = tuple(
            tuple(tuple(group) for group in tree.groups(leaves_by_lane, depth)) for depth in range(1, tree.height + 1)
        )
        return TreeLevels(tree.height, levels)

    def _resolve_class_function(self, declared: Numbers) -> ClassFunction:
        """Return cf of every lane, exactly. It must not fall where values have an order."""
        if declared.distribution:
            numbers = self._cumulative_shares(declared.place)
        elif declared.values is None:
            values = (self._number_of(value, declared) for value in self._table.values)
            numbers = tuple(values if declared.curve is None else map(declared.curve.at, values))
        else:
            by_lane = self._numbers_by_lane(declared)
            self._require_all(list(by_lane), declared.place, "from 'class_function'")
            numbers = tuple(by_lane[lane] for lane in range(self._table.distinct))
        in_order = numbers[:-1] if self._table.has_null else numbers
        if self._table.ordered and any(a > b for a, b in pairwise(in_order)):
            raise UsageError(
                f"{declared.place}: a class function must not fall, but a larger value of {self._table.name} has a "
                "smaller number."
            )
        return ClassFunction(numbers, declared.identity, declared.curve)

    def _cumulative_shares(self, location: str) -> tuple[Fraction, ...]:
        """Return for every lane the share of the table's rows whose value is not larger.

        Raises:
            UsageError: the values have no order, and none is declared.
        """
        table = self._table
        order = list(self["order"]) if "order" in self._inputs else list(range(table.distinct))
        if "order" not in self._inputs and (not table.ordered or table.has_null):
            raise UsageError(
                f"{location}: the distribution needs an order of the values of {table.name}, and "
                f"{'missing ones have' if table.ordered else 'texts have'} none. Declare one under 'order'."
            )
        sums = accumulate(table.totals[lane] if lane >= 0 else 0 for lane in order)
        by_lane = {lane: Fraction(so_far, table.total) for lane, so_far in zip(order, sums, strict=True)}
        return tuple(by_lane[lane] for lane in range(table.distinct))

    def _resolve_distances(self, declared: Distances) -> tuple[tuple[Fraction, ...], ...]:
        """Return the distance of each lane from each lane.

        Raises:
            UsageError: a pair has no distance, or the triangle inequality is violated.
        """
        names = list(dict.fromkeys(name for pair in declared.pairs for name in pair))
        lane_of_name = dict(zip(names, self._find_lanes(names, declared.place), strict=True))
        self._require_all(list(lane_of_name.values()), declared.place, "from 'distances'")
        distances = {(lane, lane): Fraction(0) for lane in range(self._table.distinct)}
        for (name, other_name), distance in declared.pairs.items():
            a, b = lane_of_name[name], lane_of_name[other_name]
            distances[a, b] = distances[b, a] = distance
        lanes = range(self._table.distinct)
        missing = sum((a, b) not in distances for a in lanes for b in lanes) // 2
        if missing:
            raise UsageError(f"{declared.place}: {missing:,} pairs of values of {self._table.name} have no distance.")
        if any(distances[a, c] > distances[a, b] + distances[b, c] for a in lanes for b in lanes for c in lanes):
            raise UsageError(
                f"{declared.place}: a distance is longer than the sum of two others that lead to the same value "
                "(triangle inequality)."
            )
        return tuple(tuple(distances[a, b] for b in lanes) for a in lanes)

    def _resolve_alpha(self, declared: Numbers) -> tuple[Fraction, ...]:
        """Return the factor of every lane, 1 for values that are not named."""
        by_lane = self._numbers_by_lane(declared)
        return tuple(by_lane.get(lane, Fraction(1)) for lane in range(self._table.distinct))

    def _numbers_by_lane(self, declared: Numbers) -> dict[int, Fraction]:
        values = declared.values or {}
        lanes = self._find_lanes(list(values), declared.place)
        return {lane: number for lane, number in zip(lanes, values.values(), strict=True) if lane != ABSENT}

    def _number_of(self, value: object, declared: Numbers) -> Fraction:
        """Return a value of the table as an exact number.

        Raises:
            UsageError: it is NULL, or no finite number.
        """
        location = declared.place
        if value is None:
            raise UsageError(
                f"{location}: {self._table.name} has NULLs, which are not numbers. Leave them out with "
                f"{spelled('where')}, or give 'class_function' as a mapping that names null."
            )
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not Decimal(value).is_finite():
            raise UsageError(
                f"{location}: {'a curve' if declared.curve else repr('identity')} needs finite numbers, but "
                f"{self._table.name} has other values. Give 'class_function' as a mapping."
            )
        return Fraction(value)


def _names_of(value: object) -> tuple[Name, Name]:
    """Return the two names of a value: Python's text, and that in small letters or as a normalized number."""
    if value is None:
        return None, None
    text = value.hex() if isinstance(value, bytes | bytearray) else str(value)
    return text, text if isinstance(value, str) else _normalize(text)


def _normalize(text: str) -> str:
    """Return a number in its only spelling (1.50 as 1.5), any other text in small letters."""
    try:
        number = Decimal(text)
        if number.is_finite():
            return str(number.normalize(Context(prec=max(28, len(text)))) if number else Decimal(0))
    except ArithmeticError:
        pass
    return text.casefold()
