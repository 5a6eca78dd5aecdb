"""What a recoding was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.publication import NOTHING, Publication
from sqlaudit.base.spec import NullPolicy, Requirement, Roles, Target
from sqlaudit.base.words import spelled
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.models.measures import OF_NODES, OF_RELEASES, find_measure
from sqlaudit.remedies.recode.kaca import Order

BY_DEFAULT = "loss"


class Method(StrEnum):
    """How groups are made: by merging classes, or by splitting the table."""

    KACA = "kaca"
    MONDRIAN = "mondrian"


@dataclass(frozen=True)
class RecodeRequest:
    """A local recoding.

    Args:
        target, roles, requirements, hierarchies, inputs: as for a lattice.
        method: how groups are made. order, seed: which class KACA merges next. beta: of its weights of levels, 0 =
            even.
        measure: the loss that is named first, and by which the lattice's best node is chosen where it has one so
            called.
        beside: whether the best node of the lattice is found, too.
        time_budget: seconds, None = no limit. publication: what becomes of the release.

    Raises:
        UsageError: a number out of its range, or a combination that has no meaning.
    """

    target: Target
    roles: Roles
    requirements: tuple[Requirement, ...]
    hierarchies: Any = field(repr=False, default=None)
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    method: Method = Method.KACA
    order: Order = Order.SMALLEST
    seed: int | None = None
    beta: Fraction = Fraction(0)
    measure: str = BY_DEFAULT
    beside: bool = True
    time_budget: float | None = None
    publication: Publication = NOTHING

    def __post_init__(self) -> None:
        find_measure(self.measure, OF_RELEASES)
        if self.beta < 0:
            raise UsageError(f"{spelled('beta')} is a number of 0 or more.")
        if self.method is Method.MONDRIAN and (self.order is not Order.SMALLEST or self.beta):
            raise UsageError(
                f"{spelled('order')} and {spelled('beta')} are for {spelled('method', 'kaca')}; Mondrian "
                "measures no distances."
            )
        if self.seed is not None and self.order is not Order.RANDOM:
            raise UsageError(f"{spelled('seed')} is for {spelled('order', 'random')}; nothing else is drawn.")
        if self.time_budget is not None and self.time_budget < 0:
            raise UsageError(f"{spelled('time_budget')} is a time of 0 seconds or more; it is {self.time_budget}.")
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
        measure = self.measure if self.measure in OF_NODES else BY_DEFAULT
        return LatticeRequest(
            self.target,
            self.roles,
            self.requirements,
            self.hierarchies,
            self.inputs,
            measure=measure,
            time_budget=seconds,
        )
