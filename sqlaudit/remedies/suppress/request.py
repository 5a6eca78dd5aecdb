"""What is asked of a suppression: which requirements it can aim at, and how the answer is looked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import SECONDS, WEIGHTS, WHOLE, check_bounds, choice, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import Suppressed
from sqlaudit.base.spec import NullPolicy, Requirement, Roles, Target

# What is asked of a suppression: which requirements it can aim at, and how the answer is looked for.

_AIMS = {"k_anonymity": "k", "distinct_l_diversity": "l"}

_CELLS = "How the cells are chosen"


class How(StrEnum):
    """How a solution is looked for: `AUTO` takes the exact program where it is small enough."""

    AUTO = "auto"
    EXACT = "exact"
    FAST = "fast"


@dataclass(frozen=True)
class SuppressRequest:
    """A suppression.

    Args:
        target: the table. roles: of its columns. requirements: what the release must satisfy. inputs: of their models.
        how: exactly, fast, or what fits. rows: suppress whole rows and no single cells; None = cells.
        weights: what a cell of a column weighs, by its name. time_budget: seconds for the solver, None = any.
        seed: decides which copies of a row part; None = a secret number.

    Raises:
        UsageError: a requirement, role or number that has no meaning here.
    """

    target: Target
    roles: Roles
    requirements: tuple[Requirement, ...]
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    how: How = option(How.AUTO, choice(How), "", _CELLS, only_python=True)
    rows: Suppressed | None = option(
        None, choice(Suppressed), "Suppress whole rows and no single cells: leave them out, or star them.", _CELLS
    )
    weights: Mapping[str, Fraction] = option(
        {}, WEIGHTS, "What a cell costs: zip=3,sex=1; 1 when not named.", _CELLS, metavar="COLUMN=NUMBER"
    )
    time_budget: float | None = option(
        10.0,
        SECONDS,
        "Time to look for a better answer and for a proof; then the best so far, with its gap.",
        _CELLS,
        name="time_limit",
        metavar="TIME",
        shown="10s",
        least=0,
    )
    seed: int | None = option(
        None, WHOLE, "Which copies of a row part; without it a secret number decides.", _CELLS, metavar="N"
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.roles.quasi_identifiers:
            raise UsageError(
                f"Name the quasi-identifiers that may be suppressed, for instance {spelled('qi', 'age', 'sex')}."
            )
        self._check_requirements()
        if self.roles.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"With {spelled('nulls', 'wildcard')} a missing value matches any value, so that classes "
                "overlap and rows cannot be "
                f"parted into groups; suppress with {spelled('nulls', 'equal')} or distinct."
            )
        if self.roles.joint:
            raise UsageError(
                f"{spelled('joint', True)} is for audits of several sensitive attributes; add them to "
                f"{spelled('qi')} instead."
            )
        if self.l > 1 and len(self.roles.sensitive) != 1:
            raise UsageError(
                f"Distinct l-diversity needs one sensitive attribute here: {spelled('sensitive', 'COLUMN')}."
            )
        if self.seed is not None and not 0 <= self.seed < 2**63:
            raise UsageError(f"{spelled('seed')} is a whole number from 0 to 2^63-1.")

    def _check_requirements(self) -> None:
        aims = [one for one in self.requirements if one.severity == "error"]
        if not aims:
            raise UsageError(f"Say what the release must satisfy, for instance {spelled('require', 'k=5')}.")
        other = next((one for one in aims if one.model not in _AIMS), None)
        if other is not None:
            raise UsageError(
                f"Suppression aims at k-anonymity and distinct l-diversity alone, and {other.text!r} is another "
                "requirement; sqlaudit recode takes every requirement."
            )

    @property
    def k(self) -> int:
        """Rows that a group needs."""
        return self._largest("k_anonymity")

    @property
    def l(self) -> int:  # noqa: E743
        """Sensitive values that a group needs."""
        return self._largest("distinct_l_diversity")

    def _largest(self, model: str) -> int:
        asked = [one for one in self.requirements if one.model == model and one.severity == "error"]
        return max((int(one.parameters[_AIMS[model]]) for one in asked), default=1)
