"""The earth mover's distances of t-closeness over lanes: groups of values whose shares are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.words import spelled
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import PairedAttribute

MOST_ORDERED = 2_000
"""Values that the ordered distance is offered for at most: it compares every beginning of the order."""


@dataclass(frozen=True)
class Distance:
    """A distance of mixtures of sensitive values: the sum over groups of |share - share|, times `weight`.

    Args:
        members: a relation grp, lane, part: the lanes of each group, and the original rows with any of them.
    """

    name: str
    members: Relation
    weight: Fraction


def groups_of(attribute: PairedAttribute, name: str, inputs: Mapping[str, Any]) -> Groups:
    """The groups of lanes of a distance, and what each difference weighs.

    Raises:
        UsageError: as `distance_of`.
    """
    return _GROUPS[name](attribute, inputs_of(inputs, attribute.label, attribute.table))


def distance_of(bench: Bench, attribute: PairedAttribute, name: str, inputs: Mapping[str, Any]) -> Distance:
    """The distance of that name for one attribute.

    Raises:
        UsageError: the values have no order, or there is no tree.
    """
    groups, weight = groups_of(attribute, name, inputs)
    totals = attribute.table.totals
    rows = [(number, lane, sum(totals[one] for one in lanes)) for number, lanes in enumerate(groups) for lane in lanes]
    columns = [("grp", "BIGINT"), ("lane", "BIGINT"), ("part", "BIGINT")]
    return Distance(name, bench.rows(f"members_{attribute.place}", columns, rows), weight)


Groups = tuple[list[list[int]], Fraction]


def _equal(attribute: PairedAttribute, _: Mapping[str, Any]) -> Groups:
    return [[lane] for lane in range(attribute.table.distinct)], Fraction(1, 2)


def _ordered(attribute: PairedAttribute, inputs: Mapping[str, Any]) -> Groups:
    """Every beginning of the order is a group; the whole of it says nothing."""
    table = attribute.table
    if "order" in inputs:
        order = list(inputs["order"])
    elif not table.ordered or table.has_null:
        why = "missing values have" if table.ordered else "its values are text and have"
        raise UsageError(
            f"{spelled('distance', 'ordered')}: {attribute.label}: {why} no order of their own; declare one "
            "under 'order' in a file "
            f"with {spelled('inputs')}."
        )
    else:
        order = list(range(table.distinct))
    if len(order) > MOST_ORDERED:
        raise UsageError(
            f"{spelled('distance', 'ordered')}: {attribute.label} has {len(order):,} different values, and the "
            "distance is offered "
            f"for at most {MOST_ORDERED:,}; round them, or use {spelled('distance', 'equal')}."
        )
    beginnings = [[lane for lane in order[: end + 1] if lane >= 0] for end in range(len(order) - 1)]
    return beginnings, Fraction(1, max(1, len(order) - 1))


def _hierarchical(attribute: PairedAttribute, inputs: Mapping[str, Any]) -> Groups:
    if "tree" not in inputs:
        raise UsageError(
            f"{spelled('distance', 'hierarchical')}: give a tree over the values of {attribute.label} in a file "
            f"with {spelled('inputs')}."
        )
    tree = inputs["tree"]
    return [list(lanes) for level in tree.levels for lanes in level], Fraction(1, 2 * tree.height)


_GROUPS = {"equal": _equal, "ordered": _ordered, "hierarchical": _hierarchical}
