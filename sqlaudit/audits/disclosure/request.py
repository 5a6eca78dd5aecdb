"""The requests for worst-case disclosure, and for what follows from stated knowledge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FLAG, RANGE, SOURCE, WHOLE, Given, OptionKind, check_bounds, option
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.spec import NullPolicy, Roles, Target, roles_part, target_part
from sqlaudit.models.disclosure.exact import MOST_TERMS, exact_threshold

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.knowledge import Knowledge

WORST: Literal["worst"] = "worst"

ASK = "Analysis"
"""Section of the help page."""


class Pieces(NamedTuple):
    """Pieces of knowledge from `first` to `last`."""

    first: int
    last: int


def _pieces(name: str, value: object) -> Pieces:
    ends = value if isinstance(value, tuple) and len(value) == 2 else (0, value)
    return Pieces(*(WHOLE.read(name, end) for end in ends))


def _witness(name: str, value: object) -> object:
    return value if value == WORST else WHOLE.read(name, value)


def _roles() -> Any:
    """Return the field of the roles: Python takes none that play no part in disclosure."""
    return roles_part(without=("identifier", "known_rows"), passed_over=("identifiers",))


@dataclass(frozen=True)
class DisclosureRequest:
    """The request for worst-case disclosure.

    Args:
        target, roles: the table and the roles of its columns.
        knowledge: the range of the curve; the report has it from the first number on.
        threshold: the probability that must not be reached; None = none.
        weakest: the most signatures of weakest classes to report.
        witness: the k of the witness; "worst" = the smallest that reaches the threshold or certainty; None = none.
        show_values: whether quasi-identifier and sensitive values may be read for the report.

    Raises:
        UsageError: numbers that do not fit together, or missing roles.
    """

    target: Target = target_part(buckets=True)
    roles: Roles = _roles()
    knowledge: Pieces = option(
        Pieces(0, 12),
        OptionKind("pieces", _pieces, python="int"),
        "Pieces of knowledge, the range of the curve.",
        ASK,
        metavar="0..K",
        shown="0..12",
        python_default=12,
    )
    threshold: Fraction | None = option(
        None,
        OptionKind("probability", lambda _, value: exact_threshold(value), python="Decimal | Fraction | int"),
        "Probability that must not be reached: 0.7.",
        ASK,
        metavar="C",
    )
    witness: int | Literal["worst"] | None = option(
        None,
        OptionKind("witness", _witness, python="int"),
        "Show K implications that reach the maximum, as a proof. Without K: as many as reach the threshold, or "
        "certainty.",
        ASK,
        metavar="[K]",
        alone=WORST,
    )
    weakest: int = option(
        5, RANGE, "Number of kinds of weakest groups to show.", ASK, metavar="N", shown="5", least=0, most=1000
    )
    show_values: bool = option(False, FLAG, "Show the values of groups, which may identify people.", ASK)

    def __post_init__(self) -> None:
        from sqlaudit.models.belief import MAX_KNOWLEDGE

        check_roles(self.roles)
        check_bounds(self)
        first, last = self.knowledge
        if not 0 <= first <= last <= MAX_KNOWLEDGE:
            raise OutOfRange(
                f"Pieces of knowledge {first}..{last} are out of range. They must ascend, within 0..{MAX_KNOWLEDGE}."
            )
        if isinstance(self.witness, int) and not 0 <= self.witness <= last:
            raise OutOfRange(f"The witness for k = {self.witness} is outside the curve, which ends at {last}.")
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise OutOfRange(
                f"The threshold {float(self.threshold):g} is out of range. It must be above 0 and at most 1."
            )

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that the analysis reads."""
        return (self.target,)


def _knowledge(given: Given, name: str) -> Knowledge:
    """Return the knowledge, which is given as a mapping or as a file."""
    from sqlaudit.audits.disclosure.knowledge import load_knowledge, read_knowledge

    value = given[name]
    return read_knowledge(value) if isinstance(value, Mapping) else load_knowledge(value)


def _terms(given: Given, name: str) -> int:
    """Return the number of terms. None is no number here, neither all nor the default."""
    terms: int = WHOLE.read(name, given.get(name, MOST_TERMS))
    return terms


@dataclass(frozen=True)
class WhatIfRequest:
    """The request for what follows from stated knowledge.

    Args:
        target, roles: the table and the roles of its columns.
        knowledge: people, knowledge and what to ask.
        show_values: whether people and values are repeated in the result as they were written.
        terms: the most conjunctions in memory at once; knowledge that needs more is refused.

    Raises:
        UsageError: missing roles, or no whole number of terms.
    """

    target: Target = target_part(buckets=True)
    roles: Roles = _roles()
    knowledge: Knowledge = option(
        None,
        replace(SOURCE, python="Mapping[str, Any] | str | Path"),
        "Use exactly this knowledge: a YAML file with people, knowledge and questions.",
        ASK,
        _knowledge,
        name="given",
        needed=True,
        only_python=True,
    )
    show_values: bool = option(False, FLAG, "Show the values of groups, which may identify people.", ASK)
    terms: int = option(MOST_TERMS, WHOLE, "Conjunctions that may be held at once.", ASK, _terms, only_python=True)

    def __post_init__(self) -> None:
        check_roles(self.roles)
        check_bounds(self)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that is read to answer."""
        return (self.target,)


def check_roles(roles: Roles) -> None:
    """Refuse roles for which worst-case disclosure has no meaning.

    Raises:
        UsageError: no quasi-identifier, no sensitive attribute, or NULL as a wildcard.
    """
    roles.require_quasi_identifiers()
    if not roles.sensitive:
        raise UsageError(f"No sensitive column is named. Name one with {about('sensitive')}.")
    if roles.nulls is NullPolicy.WILDCARD:
        raise UsageError(
            f"Worst-case disclosure is not defined with {spelled('nulls', 'wildcard')}, where groups overlap. Use "
            f"{spelled('nulls', 'equal')} or distinct."
        )
