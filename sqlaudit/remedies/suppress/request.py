"""The request for a suppression: the requirements that it can meet, and the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import (
    FLAG,
    SECONDS,
    WEIGHTS,
    WHOLE,
    Given,
    Option,
    check_bounds,
    choice,
    nested,
    option,
    part,
)
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import Suppressed, TablePublication
from sqlaudit.base.spec import NullPolicy, Requirement, Roles, Target, roles_part, target_part
from sqlaudit.models.required import inputs_option, requirements_part

_CELLS = "Search"


class How(StrEnum):
    """The way to search. `AUTO` solves the exact program if it is small enough."""

    AUTO = "auto"
    EXACT = "exact"
    FAST = "fast"


_WAYS = choice(How)


def _choose_how(given: Given, _: str) -> How:
    """Return the way to search: Python names it, the command line has flags.

    Raises:
        UsageError: a way that is none, or both flags.
    """
    if given.get("exact") and given.get("fast"):
        raise UsageError(f"{spelled('exact', True)} and {spelled('fast', True)} exclude each other: give one of them.")
    if given.get("exact"):
        return How.EXACT
    if given.get("fast"):
        return How.FAST
    return How(_WAYS.read("how", given.get("how", How.AUTO)))


def _how_options() -> Iterator[Option]:
    """Yield the option of Python, and the flags of the command line."""
    exact, fast = (
        "Prove the minimum, or report a lower bound; needs HiGHS.",
        "Take a good answer at once, with a bound. Default: exact for small problems.",
    )
    yield Option("how", _WAYS, "", _CELLS, default=How.AUTO, only_python=True)
    yield Option("exact", FLAG, exact, _CELLS, default=False, only_command_line=True)
    yield Option("fast", FLAG, fast, _CELLS, default=False, only_command_line=True)


@dataclass(frozen=True)
class SuppressRequest:
    """The request for a suppression.

    Args:
        target: the table.
        roles: the roles of its columns.
        requirements: the requirements of the release.
        inputs: further inputs of models.
        how: exact, fast, or by size.
        rows: suppress whole rows instead of single cells; None = cells.
        weights: the cost of a cell by column.
        time_budget: seconds for the solver, None = no limit.
        seed: decides which copies of a row are separated; None = a secret number.
        publication: the destination of the release.

    Raises:
        UsageError: a requirement, role or number is not supported, or a file cannot be written.
    """

    target: Target = target_part()
    roles: Roles = roles_part(without=("joint", "known_rows"))
    requirements: tuple[Requirement, ...] = requirements_part()
    inputs: Mapping[str, object] = inputs_option()
    how: How = part(_choose_how, _how_options, default=How.AUTO)
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
        or_none=True,
    )
    seed: int | None = option(
        None, WHOLE, "Seed to choose among equal rows. Default: a secret number.", _CELLS, metavar="N"
    )
    publication: TablePublication = nested(TablePublication)

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
        self.publication.check()

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that the suppression reads: the table, and a population table that the inputs name."""
        if not self.inputs:
            return (self.target,)
        from sqlaudit.classes.inputs import further_targets  # `--help` reads no inputs

        return (self.target, *further_targets(self.inputs, self.target))

    def _check_requirements(self) -> None:
        """Check that suppression can meet the requirements.

        Raises:
            UsageError: there is none, or one of another kind.
        """
        aims = [requirement for requirement in self.requirements if requirement.severity == "error"]
        if not aims:
            raise UsageError(f"No requirement is given. Add one, for example {spelled('require', 'k=5')}.")
        from sqlaudit.models.registry import model_of  # `--help` needs no models

        other = next((requirement for requirement in aims if not model_of(requirement.model).class_minimum), None)
        if other is not None:
            raise UsageError(
                f"{other.text!r} is not supported: suppression can meet k-anonymity and distinct l-diversity only. "
                "Use sqlaudit recode."
            )

    @property
    def k(self) -> int:
        """Return the number of rows that a group needs."""
        return self._largest("rows")

    @property
    def l(self) -> int:  # noqa: E743
        """Return the number of sensitive values that a group needs."""
        return self._largest("values")

    def _largest(self, minimum_of: str) -> int:
        """Return the largest minimum of rows or of sensitive values that the requirements set, 1 without any."""
        from sqlaudit.models.registry import model_of

        aims = ((model_of(limit.model), limit) for limit in self.requirements if limit.severity == "error")
        minima = (int(limit.parameters[model.main]) for model, limit in aims if model.class_minimum == minimum_of)
        return max(minima, default=1)
