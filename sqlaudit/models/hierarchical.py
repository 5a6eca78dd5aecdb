"""t-closeness where values are leaves of a tree: the higher two values meet, the further apart they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from sqlaudit.classes.facts import Fact
from sqlaudit.models.base import expression
from sqlaudit.models.closeness import WIDE_N, TCloseness


class HierarchicalTCloseness(TCloseness):
    """t-closeness with the distance of a tree.

    Over a tree the earth mover's distance is a sum over its edges: each carries the difference of what lies below it,
    and is 1/(2 height) long. So it is one grouped difference a level.
    """

    name: ClassVar[str] = "t_closeness_hierarchical"
    title: ClassVar[str] = "t-closeness (hierarchical distance)"
    definition: ClassVar[str] = (
        "Earth mover's distance of every class from the table ≤ t, where two values are as far apart as the height of "
        "their lowest common ancestor over the height of the tree; leaves are padded to one depth."
    )
    short_forms: ClassVar = ("t_hierarchical",)
    needs: ClassVar[tuple[str, ...]] = ("tree",)

    def unit(self) -> int:
        """Twice the tree's height."""
        return 2 * int(self.context.inputs["tree"].height)

    def _levels(self) -> list[tuple[Fact, int]]:
        """The facts of the levels, and how many levels group the values alike."""
        groupings = Counter(self.context.inputs["tree"].levels)
        return [(_difference(groups, position), times) for position, (groups, times) in enumerate(groupings.items())]

    def facts(self) -> tuple[Fact, ...]:
        """The difference at every level."""
        return (*(fact for fact, _ in self._levels()), WIDE_N)

    def measure(self) -> str:
        """All levels added up."""
        return expression("weighted_sum", terms=[(fact.name, times) for fact, times in self._levels()])


def _difference(groups: Sequence[Sequence[int]], position: int) -> Fact:
    """How far a class is from the table when values in one group count as equal."""
    if all(len(lanes) == 1 for lanes in groups):
        return Fact("equal_distance", "equal_distance")
    return Fact(f"level_distance_{position}", "grouped_distance", {"groups": [list(lanes) for lanes in groups]})
