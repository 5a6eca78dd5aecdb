"""What is searched for in the lattice: which nodes, under which requirements, and how far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.publication import Publication, Suppressed
from sqlaudit.base.spec import Requirement, Roles, Target
from sqlaudit.base.words import spelled
from sqlaudit.lattices.search.choice import AUTO, FITS
from sqlaudit.lattices.verdicts import Node
from sqlaudit.models.measures import find_measure


class Find(StrEnum):
    """Which nodes are wanted.

    `BEST`: the safe node of smallest loss. `MINIMAL`: all safe nodes with no finer safe node. `ALL`:
    a verdict on every node. `CHAIN`: the finest safe node along one chain.
    """

    BEST = "best"
    MINIMAL = "minimal"
    ALL = "all"
    CHAIN = "chain"


@dataclass(frozen=True)
class LatticeRequest:
    """A search in the generalization lattice.

    Args:
        target: the table. roles: its quasi-identifiers (in the order of a node), sensitive columns, entity.
        requirements: what the release must satisfy, at least one.
        hierarchies: for each quasi-identifier how it is coarsened: a YAML file, a folder of CSV files, or a mapping.
        inputs: further inputs of models by name.
        suppression: the share of the rows that may be left out, in classes that fail.
        find, measure, algorithm: which nodes, by which loss, in which way (`auto`: what fits best).
        weights: of columns in the loss, by name.
        chain: the nodes of the chain, from fine to coarse; empty = one that the search takes.
        time_budget: seconds, None = no limit. walk: whether every decided node is kept in the result.

    Raises:
        UsageError: a number out of its range, or a combination that has no meaning.
    """

    target: Target
    roles: Roles
    requirements: tuple[Requirement, ...]
    hierarchies: Any = field(repr=False, default=None)
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    suppression: Fraction = Fraction(0)
    find: Find = Find.BEST
    measure: str = "loss"
    algorithm: str = AUTO
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    chain: Sequence[Node] = ()
    time_budget: float | None = None
    walk: bool = False

    def __post_init__(self) -> None:
        if not self.roles.quasi_identifiers:
            raise UsageError(
                f"Name the quasi-identifiers that are to be coarsened, for instance {spelled('qi', 'age', 'sex')}."
            )
        find_measure(self.measure)
        if not self.requirements:
            raise UsageError(f"Say what the release must satisfy, for instance {spelled('require', 'k=5')}.")
        if not any(one.severity == "error" for one in self.requirements):
            raise UsageError("Every requirement only warns, so every node would be safe; require at least one.")
        if not 0 <= self.suppression <= 1:
            raise UsageError(f"{spelled('suppress')} is a share from 0 to 1 (100%); it is {self.suppression}.")
        if self.algorithm not in (AUTO, *FITS[self.find]):
            listed = ", ".join((AUTO, *FITS[self.find]))
            raise UsageError(f"{spelled('algorithm', self.algorithm)} does not find {self.find}; there are: {listed}.")
        if self.chain and self.find is not Find.CHAIN:
            raise UsageError(
                f"{spelled('chain')} names the nodes of a chain; it belongs to {spelled('find', 'chain')}."
            )
        if self.time_budget is not None and self.time_budget < 0:
            raise UsageError(f"{spelled('time_budget')} is a time of 0 seconds or more; it is {self.time_budget}.")


@dataclass(frozen=True)
class LatticePublication(Publication):
    """What becomes of the best node.

    Args:
        view: the view to write, empty = none. execute: make it in the database, too. replace: a view of that name may
            be replaced.
        suppressed: what happens to rows of classes that fall short.

    Raises:
        UsageError: a combination that has no meaning.
    """

    view: str = ""
    execute: bool = False
    replace: bool = False
    suppressed: Suppressed = Suppressed.DROP

    def __post_init__(self) -> None:
        if self.view and self.file is not None:
            raise UsageError(f"Give {spelled('publish_view')} or {spelled('to')}, not both.")
        if self.execute and not self.view:
            raise UsageError(f"{spelled('execute', True)} makes a view; name it with {spelled('publish_view')}.")
        if self.replace and not self.execute:
            raise UsageError(
                f"{spelled('replace_view', True)} is for a view that is made; add {spelled('execute', True)}."
            )
        if self.suppressed is Suppressed.STAR and not self.wanted:
            raise UsageError(
                f"{spelled('suppressed')} says what a release does; add {spelled('publish_view')} or {spelled('to')}."
            )

    @property
    def is_sql(self) -> bool:
        """Whether it is SQL that others will run, so that the table must mean the same outside of this session."""
        return bool(self.view) or super().is_sql


def parse_chain(text: str) -> tuple[Node, ...]:
    """The nodes of a chain from `0,0 0,1 1,1`: levels separated by commas, nodes by spaces or semicolons.

    Raises:
        UsageError: no such text, nodes of different length, or a node that is not coarser than the one before.

    Example:
        >>> parse_chain("0,0 0,1 2,1")
        ((0, 0), (0, 1), (2, 1))
    """
    nodes = []
    for part in text.replace(";", " ").split():
        levels = part.split(",")
        if not all(level.isascii() and level.isdecimal() for level in levels):
            raise UsageError(f"{spelled('chain')} takes nodes such as 0,0 0,1 1,1; {part!r} is none.")
        nodes.append(tuple(map(int, levels)))
    if not nodes:
        raise UsageError(f"{spelled('chain')} takes at least one node.")
    return tuple(nodes)


def shown(node: Node) -> str:
    """A node as people write it: `0,3,1`."""
    return ",".join(map(str, node))
