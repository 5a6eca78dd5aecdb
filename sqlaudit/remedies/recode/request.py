"""The request for a local recoding."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FLAG, NOT_NEGATIVE, SECONDS, WHOLE, check_bounds, choice, listed, nested, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import BucketPublication
from sqlaudit.base.spec import NullPolicy, Requirement, Roles, Target, roles_part, target_part
from sqlaudit.lattices.request import LatticeRequest, hierarchies_option
from sqlaudit.models.measures import OF_NODES, OF_RELEASES, find_measure
from sqlaudit.models.required import inputs_option, requirements_part

BY_DEFAULT = "loss"

_GROUPING_SECTION, _LOSS_SECTION = "Grouping", "Information loss"


class Method(StrEnum):
    """The method of grouping: merging classes, or splitting the table."""

    KACA = "kaca"
    MONDRIAN = "mondrian"


class Order(StrEnum):
    """The failing class that is merged next."""

    SMALLEST = "smallest"
    RANDOM = "random"


@dataclass(frozen=True)
class RecodeRequest:
    """The request for a local recoding.

    Args:
        target, roles, requirements, hierarchies, inputs: as for a lattice.
        method: the method of grouping.
        order, seed: the class that KACA merges next.
        beta: the exponent of KACA's weights of levels, 0 = equal weights.
        measure: the first loss of the report, which also chooses the lattice's best node if the lattice has it.
        lattice: whether to find the best node of the lattice, too.
        time_budget: seconds, None = no limit.
        publication: the destination of the release.

    Raises:
        UsageError: a number is out of its range, a combination is not defined, or a file cannot be written.
    """

    target: Target = target_part()
    roles: Roles = roles_part(without=("known_rows",), sampling=("sampling_fraction", "population_size"))
    requirements: tuple[Requirement, ...] = requirements_part()
    inputs: Mapping[str, object] = inputs_option()
    hierarchies: object = hierarchies_option()
    method: Method = option(
        Method.KACA,
        choice(Method),
        "Merge failing classes with the nearest class, or split the table while all groups pass.",
        _GROUPING_SECTION,
        shown="kaca",
    )
    order: Order = option(
        Order.SMALLEST, choice(Order), "Class that KACA merges next.", _GROUPING_SECTION, shown="smallest"
    )
    seed: int | None = option(None, WHOLE, "Seed of the random order. [default: 0]", _GROUPING_SECTION, metavar="N")
    beta: Fraction = option(
        Fraction(0),
        NOT_NEGATIVE,
        "For KACA: weights of levels 1/(j-1)^beta.",
        _GROUPING_SECTION,
        metavar="NUMBER",
        shown="0",
        least=0,
    )
    time_budget: float | None = option(
        None, SECONDS, "Stop after this time and publish nothing.", _GROUPING_SECTION, metavar="TIME"
    )
    measure: str = option(BY_DEFAULT, listed(OF_RELEASES), "First loss in the report.", _LOSS_SECTION, shown=BY_DEFAULT)
    lattice: bool = option(
        True,
        FLAG,
        "Compare with the best full-domain node.",
        _LOSS_SECTION,
        shown="lattice",
        flags=("--lattice/--no-lattice",),
    )
    publication: BucketPublication = nested(BucketPublication)

    def __post_init__(self) -> None:
        check_bounds(self)
        find_measure(self.measure, OF_RELEASES)
        if self.method is Method.MONDRIAN and (self.order is not Order.SMALLEST or self.beta):
            raise UsageError(
                f"{spelled('order')} and {spelled('beta')} need {spelled('method', 'kaca')}: Mondrian has no distances."
            )
        if self.seed is not None and self.order is not Order.RANDOM:
            raise UsageError(f"{spelled('seed')} needs {spelled('order', 'random')}.")
        if self.roles.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"{spelled('nulls', 'wildcard')} is not supported, because groups overlap. Use "
                f"{spelled('nulls', 'equal')} or distinct."
            )
        if self.roles.joint and len(self.roles.sensitive) > 1:
            raise UsageError(
                f"{spelled('joint', True)} is not supported, because every sensitive column then has different "
                "classes. Leave it out."
            )
        self.of_lattice()
        self.publication.check()

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that the recoding reads: the same as a search in the lattice."""
        return self.of_lattice().targets

    @property
    def drawn(self) -> int | None:
        """Return the seed of the random order, None without one."""
        return (self.seed or 0) if self.method is Method.KACA and self.order is Order.RANDOM else None

    def of_lattice(self, seconds: float | None = None) -> LatticeRequest:
        """Return the request to search the lattice for the best node under the same requirements."""
        node_measure = OF_NODES.get(self.measure)
        measure = BY_DEFAULT if node_measure is None or node_measure.sensitive else node_measure.name
        return LatticeRequest(
            self.target,
            self.roles,
            self.requirements,
            inputs=self.inputs,
            hierarchies=self.hierarchies,
            measure=measure,
            beta=self.beta or Fraction(1),
            time_budget=seconds,
        )
