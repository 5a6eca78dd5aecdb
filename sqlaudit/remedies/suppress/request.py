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

# The request for a suppression: the requirements that it can meet, and the search.

_CELLS = "Search"


class How(StrEnum):
    """How to search: `AUTO` takes the exact program where it is small enough."""

    AUTO = "auto"
    EXACT = "exact"
    FAST = "fast"


@dataclass(frozen=True)
class SuppressRequest:
    """A suppression.

    Args:
        target: the table. roles: of its columns. requirements: of the release. inputs: of their models.
        how: exact, fast, or by size. rows: suppress whole rows instead of single cells; None = cells.
        weights: costs of a cell by column. time_budget: seconds for the solver, None = any.
        seed: decides which copies of a row are separated; None = a secret number.

    Raises:
        UsageError: a requirement, role or number that is not supported.
    """

    target: Target
    roles: Roles
    requirements: tuple[Requirement, ...]
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    how: How = option(How.AUTO, choice(How), "", _CELLS, only_python=True)
    rows: Suppressed | None = option(
        None, choice(Suppressed), "Suppress whole rows instead of single cells: leave them out, or star them.", _CELLS
    )
    weights: Mapping[str, Fraction] = option(
        {}, WEIGHTS, "Cost of a cell by column: zip=3,sex=1; 1 by default.", _CELLS, metavar="COLUMN=NUMBER"
    )
    time_budget: float | None = option(
        10.0,
        SECONDS,
        "Time to improve the answer and prove it; then report the best so far, with its gap.",
        _CELLS,
        name="time_limit",
        metavar="TIME",
        shown="10s",
        least=0,
    )
    seed: int | None = option(
        None, WHOLE, "Seed to choose among equal rows. Default: a secret number.", _CELLS, metavar="N"
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.roles.quasi_identifiers:
            raise UsageError(
                "No quasi-identifiers are named. Name the columns to suppress, for example "
                f"{spelled('qi', 'age', 'sex')}."
            )
        self._check_requirements()
        if self.roles.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"{spelled('nulls', 'wildcard')} is not supported, because classes overlap. Use "
                f"{spelled('nulls', 'equal')} or distinct."
            )
        if self.roles.joint:
            raise UsageError(
                f"{spelled('joint', True)} is not supported. Add the other sensitive columns to {spelled('qi')}."
            )
        if self.l > 1 and len(self.roles.sensitive) != 1:
            raise UsageError(
                f"Distinct l-diversity needs exactly one sensitive column: {spelled('sensitive', 'COLUMN')}."
            )
        if self.seed is not None and not 0 <= self.seed < 2**63:
            raise UsageError(f"{spelled('seed')} must be a whole number from 0 to 2^63-1.")

    def _check_requirements(self) -> None:
        aims = [one for one in self.requirements if one.severity == "error"]
        if not aims:
            raise UsageError(f"No requirement is given. Add one, for example {spelled('require', 'k=5')}.")
        from sqlaudit.models.registry import model_of  # `--help` needs no models

        other = next((one for one in aims if not model_of(one.model).class_minimum), None)
        if other is not None:
            raise UsageError(
                f"{other.text!r} is not supported: suppression can meet k-anonymity and distinct l-diversity only. "
                "Use sqlaudit recode."
            )

    @property
    def k(self) -> int:
        """Rows that a group needs."""
        return self._largest("rows")

    @property
    def l(self) -> int:  # noqa: E743
        """Sensitive values that a group needs."""
        return self._largest("values")

    def _largest(self, counted: str) -> int:
        from sqlaudit.models.registry import model_of

        aims = [requirement for requirement in self.requirements if requirement.severity == "error"]
        models = ((model_of(aim.model), aim) for aim in aims)
        limits = (int(aim.parameters[model.main]) for model, aim in models if model.class_minimum == counted)
        return max(limits, default=1)
