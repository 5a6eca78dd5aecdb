"""What is asked of a table: how much knowledge, and what is told of the worst of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import FLAG, RANGE, OptionKind, option
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.models.disclosure.exact import exact_threshold

# What is asked of a table: how much knowledge, and what is told of the worst of it.

WORST: Literal["worst"] = "worst"

ASK = "What to ask"
"""Section of the help page."""


class Pieces(NamedTuple):
    """Pieces of knowledge from `first` to `last`."""

    first: int
    last: int


def _pieces(_: str, value: Any) -> Pieces:
    return Pieces(*value) if isinstance(value, tuple) else Pieces(0, value)


@dataclass(frozen=True)
class DisclosureRequest:
    """What is asked of a table.

    Args:
        target, roles: as in an audit. knowledge: what the curve covers; it is told from the first on.
        threshold: a probability that should not be reached. weakest: how many signatures of weakest classes are told.
        witness: for which k a witness is wanted, "worst" = where the curve gets interesting, None = for none.
        show_values: whether quasi-identifier and sensitive values may be read for the report.

    Raises:
        UsageError: numbers that do not fit together, or roles that are missing.
    """

    target: Target
    roles: Roles
    knowledge: Pieces = option(
        Pieces(0, 12),
        OptionKind("pieces", _pieces),
        "Pieces of knowledge that the curve covers.",
        ASK,
        metavar="0..K",
        shown="0..12",
    )
    threshold: Fraction | None = option(
        None,
        OptionKind("probability", lambda _, value: exact_threshold(value), python="Decimal | Fraction | int"),
        "A probability that should not be reached: 0.7.",
        ASK,
        metavar="C",
    )
    witness: int | Literal["worst"] | None = option(
        None,
        OptionKind("witness", lambda _, value: value, python="int"),
        "Show K implications that reach the maximum, as a proof. Without K: as many as reach C, or certainty.",
        ASK,
        metavar="[K]",
        alone=WORST,
    )
    weakest: int = option(
        5, RANGE, "How many kinds of weakest classes to tell.", ASK, metavar="N", shown="5", least=0, most=1000
    )
    show_values: bool = option(False, FLAG, "Name classes and values, which may name persons.", ASK)

    def __post_init__(self) -> None:
        from sqlaudit.models.belief import MAX_KNOWLEDGE

        check_roles(self.roles)
        first, last = self.knowledge
        if not 0 <= first <= last <= MAX_KNOWLEDGE:
            raise UsageError(
                f"The pieces of knowledge are {first} to {last}; they must ascend from 0 or more and "
                f"end at {MAX_KNOWLEDGE} or less."
            )
        if isinstance(self.witness, int) and not 0 <= self.witness <= last:
            raise UsageError(f"The witness is asked for k = {self.witness}, the curve ends at {last}.")
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise UsageError(f"The threshold is {float(self.threshold):g}; it must be above 0 and at most 1.")


def check_roles(roles: Roles) -> None:
    """Refuse roles for which worst-case disclosure has no meaning.

    Raises:
        UsageError: no quasi-identifier, no sensitive attribute, or NULL as a wildcard.
    """
    roles.require_quasi_identifiers()
    if not roles.sensitive:
        raise UsageError(f"Name a sensitive attribute with {about('sensitive')}: what others should not learn.")
    if roles.nulls is NullPolicy.WILDCARD:
        raise UsageError(
            f"Worst-case disclosure has no meaning with {spelled('nulls', 'wildcard')}: there classes overlap, "
            "and a person may have "
            f"the value of several. Use {spelled('nulls', 'equal')} or distinct."
        )
