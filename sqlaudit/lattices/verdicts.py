"""Verdicts on nodes of the generalization lattice.

A node chooses one level for every column, in the order of the columns: 0 is the value as it is, the column's height is
one value for all. Node u is finer than v when no level of u is higher. Source: Martin et al., Worst-Case Background
Knowledge, section 3.4; LeFevre, DeWitt, Ramakrishnan: Incognito, SIGMOD 2005.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlaudit.base.result import Documented, Number

if TYPE_CHECKING:
    from sqlaudit.classes.facts import Signatures

Node = tuple[int, ...]


def is_finer(node: Node, other: Node) -> bool:
    """Return True if no level of the node is above that of the other one."""
    return all(a <= b for a, b in zip(node, other, strict=True))


def node_text(node: Sequence[int]) -> str:
    """Return a node as people write it: `0,3,1`."""
    return ",".join(map(str, node))


def at_level(node: Sequence[int], column: int, level: int) -> Node:
    """Return the node with one column at another level."""
    return (*node[:column], level, *node[column + 1 :])


def just_below(node: Node) -> list[Node]:
    """Return the nodes one step finer."""
    return [at_level(node, column, level - 1) for column, level in enumerate(node) if level]


def just_above(node: Node, top: Node) -> list[Node]:
    """Return the nodes one step coarser."""
    return [at_level(node, column, level + 1) for column, level in enumerate(node) if level < top[column]]


@dataclass(frozen=True)
class Shortfall(Documented):
    """Why a node is not safe, or which of its rows have to be suppressed.

    Args:
        requirement: as it was written.
        sensitive: its attribute, None for requirements on sizes.
        rows: failing rows; None for a figure of the whole table.
        classes: failing classes; None for a figure of the whole table.
        level: the achieved level, for requirements on the whole table.
    """

    requirement: str
    sensitive: str | None
    classes: int | None
    rows: int | None
    level: Number | None = None


@dataclass(frozen=True)
class Verdict:
    """The verdict on a node, with the figures that decide it.

    Args:
        node: its levels.
        safe: True if the rows in failing classes are within the suppression limit.
        prunable_safe: True if they are, counting only the requirements that every coarser node inherits (under this
            limit). If it is False, every finer node is unsafe, too.
        classes: equivalence classes, failing ones included.
        failing_rows: rows in classes that fail any requirement that decides, each row once.
        smallest: rows (persons, with an entity) of the smallest class; 0 for an empty table.
        fails: the requirements not met (of severity error), empty when all are.
        smallest_left: rows of the smallest class that does not fail; 0 when none is left, None when not known.
    """

    node: Node
    safe: bool
    prunable_safe: bool
    classes: int
    failing_rows: int
    smallest: int
    fails: tuple[Shortfall, ...] = ()
    smallest_left: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CellWeight:
    """The cost of a generalized cell: the weight of one label of one level of one column.

    `label` is the level's text, None for NULL; weights are given for levels from 1 to one below the top.
    """

    position: int
    level: int
    label: str | None
    weight: float


@dataclass(frozen=True)
class LossParts:
    """The figures of a node that losses are computed from, beyond the counts of each column's own values.

    Args:
        node: its levels.
        classes, kept_classes: all classes, and those that stay when failing classes are suppressed.
        rows, failing_rows: all rows, and those in failing classes (the suppressed ones).
        kept_squares: the sum of the squared sizes of the kept classes.
        failing_weights: for each column the sum of its cells' weights over the rows in failing classes; 0 for a column
            whose level has no weights.
        failing_bits: for each column the sum over the rows in failing classes of −log2 Pr(value | cell); empty unless
            asked for.
        failing_bits_at_top: for each column the sum over the rows in failing classes of −log2 Pr(value).
        kept_bits: the sum over the kept classes of their rows times log2 of their rows.
        tuple_bits: the sum over all classes of the finest node of their rows times log2 of their rows.
        figures: the losses that are counted as they are, by the names of their measures; empty unless asked for.
    """

    node: Node
    classes: int
    kept_classes: int
    rows: int
    failing_rows: int
    kept_squares: int
    failing_weights: tuple[float, ...] = ()
    failing_bits: tuple[float, ...] = ()
    failing_bits_at_top: tuple[float, ...] = ()
    kept_bits: float = 0.0
    tuple_bits: float = 0.0
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class NodeClasses:
    """The classes of a node as worst-case disclosure sees them.

    Args:
        node: its levels. attribute: the place of the sensitive attribute among all. signatures: of the classes.
        entropy: exp(entropy) of the class in which it is least.
    """

    node: Node
    attribute: int
    signatures: Signatures
    entropy: float
