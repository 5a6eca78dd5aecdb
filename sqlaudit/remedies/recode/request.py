"""What a recoding was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import FLAG, NOT_NEGATIVE, SECONDS, WHOLE, check_bounds, choice, listed, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import NOTHING, BucketPublication
from sqlaudit.base.spec import NullPolicy, Requirement, Roles, Target
from sqlaudit.lattices.request import LatticeRequest, hierarchies_option
from sqlaudit.models.measures import OF_NODES, OF_RELEASES, find_measure

# What a recoding was asked for.

BY_DEFAULT = "loss"

_GROUPS, _LOST = "How groups are made", "What is lost"


class Method(StrEnum):
    """How groups are made: by merging classes, or by splitting the table."""

    KACA = "kaca"
    MONDRIAN = "mondrian"


class Order(StrEnum):
    """Which of the classes that fall short is merged next."""

    SMALLEST = "smallest"
    RANDOM = "random"


@dataclass(frozen=True)
class RecodeRequest:
    """A local recoding.

    Args:
        target, roles, requirements, hierarchies, inputs: as for a lattice. publication: what becomes of the release.
        method: how groups are made. order, seed: which class KACA merges next. beta: of its weights of levels, 0 =
            even.
        measure: the loss that is named first, and by which the lattice's best node is chosen where it has one so
            called.
        lattice: whether the best node of the lattice is found, too.
        time_budget: seconds, None = no limit.

    Raises:
        UsageError: a number out of its range, or a combination that has no meaning.
    """

    target: Target
    roles: Roles
    requirements: tuple[Requirement, ...]
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    publication: BucketPublication = NOTHING
    hierarchies: Any = hierarchies_option()
    method: Method = option(
        Method.KACA,
        choice(Method),
        "Merge classes that fall short with the nearest one, or split the table as far as it may be.",
        _GROUPS,
        shown="kaca",
    )
    order: Order = option(Order.SMALLEST, choice(Order), "Which class KACA merges next.", _GROUPS, shown="smallest")
    seed: int | None = option(None, WHOLE, "The seed of the random order. [default: 0]", _GROUPS, metavar="N")
    beta: Fraction = option(
        Fraction(0), NOT_NEGATIVE, "KACA weighs levels by 1/(j-1)^beta.", _GROUPS, metavar="NUMBER", shown="0", least=0
    )
    time_budget: float | None = option(
        None, SECONDS, "Give up after this time, publishing nothing.", _GROUPS, metavar="TIME", least=0
    )
    measure: str = option(BY_DEFAULT, listed(OF_RELEASES), "The loss that is named first.", _LOST, shown=BY_DEFAULT)
    lattice: bool = option(
        True,
        FLAG,
        "Set it beside the best full-domain node.",
        _LOST,
        shown="lattice",
        flags=("--lattice/--no-lattice",),
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        find_measure(self.measure, OF_RELEASES)
        if self.method is Method.MONDRIAN and (self.order is not Order.SMALLEST or self.beta):
            raise UsageError(
                f"{spelled('order')} and {spelled('beta')} are for {spelled('method', 'kaca')}; Mondrian "
                "measures no distances."
            )
        if self.seed is not None and self.order is not Order.RANDOM:
            raise UsageError(f"{spelled('seed')} is for {spelled('order', 'random')}; nothing else is drawn.")
        if self.roles.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"{spelled('nulls', 'wildcard')}: a missing value would belong to several groups at once; "
                f"recode with {spelled('nulls', 'equal')} "
                "or distinct."
            )
        if self.roles.joint and len(self.roles.sensitive) > 1:
            raise UsageError(
                f"{spelled('joint', True)}: every sensitive attribute has classes of its own there, and a row "
                "can be in one group only; "
                "recode without it."
            )
        self.of_lattice()

    @property
    def drawn(self) -> int | None:
        """The seed of what is drawn, None when nothing is."""
        return (self.seed or 0) if self.method is Method.KACA and self.order is Order.RANDOM else None

    def of_lattice(self, seconds: float | None = None) -> LatticeRequest:
        """The search for the best node under the same requirements."""
        found = OF_NODES.get(self.measure)
        measure = BY_DEFAULT if found is None or found.sensitive else found.name
        return LatticeRequest(
            self.target,
            self.roles,
            self.requirements,
            self.inputs,
            self.hierarchies,
            measure=measure,
            beta=self.beta or Fraction(1),
            time_budget=seconds,
        )
