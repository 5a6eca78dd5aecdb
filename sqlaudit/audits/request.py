"""The request for an audit: what every edge makes of what it was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import (
    FLAG,
    MOST,
    NAMES,
    RANGE,
    Given,
    Option,
    check_bounds,
    listed,
    nested,
    option,
    options_of,
    part,
    request_from,
)
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import (
    CLASSES,
    HOLD,
    SAMPLED_BY,
    Coverage,
    Requirement,
    Roles,
    SafeHarbor,
    Target,
    roles_part,
    target_part,
)
from sqlaudit.models.required import PRESET_HELP, REQUIREMENTS, REQUIREMENTS_HELP, inputs_option

WORST_CLASSES = 3
"""Number of worst classes that are broken down by sensitive value unless another number is given."""


def _required(given: Given, name: str) -> tuple[Requirement, ...]:
    """Return what presets require of rows, and what is required besides."""
    return (*_presets(given)[0], *REQUIREMENTS.read(name, given.get(name)))


def _safe_harbor(given: Given, _: str) -> SafeHarbor | None:
    """Return how Safe Harbor is checked, None if no preset asks for it."""
    return _presets(given)[1]


def _presets(given: Given) -> tuple[tuple[Requirement, ...], SafeHarbor | None]:
    names = () if given.get("preset") is None else NAMES.read("preset", given["preset"])
    return requirements_of_presets(names, request_from(SafeHarbor, given), report=given.get("criteria") is not None)


def _safe_harbor_options() -> Iterator[Option]:
    return (detail for _, detail in options_of(SafeHarbor))


@dataclass(frozen=True)
class AuditRequest:
    """A request for an audit.

    Args:
        target: the table.
        roles: the roles of its columns; accepted identifiers are among the identifiers.
        requirements: what must hold; empty = report every model that needs no further input.
        presets: the published rules that some of the requirements are of.
        inputs: further inputs of models by name (categories, class functions, orders, trees, population …).
        safe_harbor: how HIPAA's Safe Harbor is checked, None = not at all.
        coverage: identifiers that are accepted, and whether every column needs a role.
        failing_classes: the number of failing classes to read, None = all.
        worst_classes: the number of worst classes to break down by sensitive value, 0 = none, which saves a statement;
            None = 3.
        show_values: whether the quasi-identifier values of these classes, and the sensitive values of the worst and of
            a stated person, may be read.
        criteria: a report by criteria instead of the usual one, `internal` or `public`.

    Raises:
        UsageError: a number that is out of range.
    """

    target: Target = target_part(buckets=True)
    roles: Roles = roles_part(sampling=SAMPLED_BY)
    requirements: tuple[Requirement, ...] = option(
        (), REQUIREMENTS, REQUIREMENTS_HELP, HOLD, _required, name="require", metavar="MODEL=LIMIT"
    )
    presets: tuple[str, ...] = option((), NAMES, PRESET_HELP, HOLD, name="preset", metavar="NAME")
    inputs: Mapping[str, object] = inputs_option()
    safe_harbor: SafeHarbor | None = part(_safe_harbor, _safe_harbor_options, default=None)
    coverage: Coverage = nested(Coverage)
    failing_classes: int | None = option(
        10, MOST, "Number of failing classes in the report.", CLASSES, metavar="N|all", shown="10", least=0
    )
    worst_classes: int | None = option(
        None,
        RANGE,
        "Number of worst classes to break down by sensitive value. [default: 3 in JSON and HTML, otherwise 0]",
        CLASSES,
        metavar="N",
        least=0,
        most=10,
    )
    show_values: bool = option(False, FLAG, "Show values of failing classes, which may identify people.", CLASSES)

    criteria: str | None = option(
        None,
        listed(("internal", "public")),
        "Report by criteria of data protection, with exact figures or with small counts rounded.",
        "Output",
        only_command_line=True,
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        accepted = self.coverage.accepted_identifiers
        if not {*accepted} <= {*self.roles.identifiers}:
            identifiers = (*self.roles.identifiers, *(name for name in accepted if name not in self.roles.identifiers))
            object.__setattr__(self, "roles", replace(self.roles, identifiers=identifiers))

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that the audit reads: the table, and a population table that the inputs name."""
        if not self.inputs:
            return (self.target,)
        from sqlaudit.classes.inputs import further_targets

        return (self.target, *further_targets(self.inputs, self.target))

    @property
    def worst_classes_read(self) -> int:
        """The number of worst classes to read."""
        return WORST_CLASSES if self.worst_classes is None else self.worst_classes


def request_verdicts(
    target: Target,
    roles: Roles,
    requirements: Sequence[Requirement] = (),
    inputs: Mapping[str, object] | None = None,
    **more: Any,
) -> AuditRequest:
    """Return a request for verdicts and counts alone, for which no class is read; `more` are further fields."""
    return AuditRequest(
        target, roles, tuple(requirements), inputs=inputs or {}, failing_classes=0, worst_classes=0, **more
    )


def requirements_of_presets(
    names: Sequence[str], safe_harbor: SafeHarbor, *, report: bool = False
) -> tuple[tuple[Requirement, ...], SafeHarbor | None]:
    """Return what presets require of rows, and how HIPAA's Safe Harbor is checked, None = not at all.

    Args:
        names: of presets.
        safe_harbor: the details that were given of Safe Harbor.
        report: whether presets without a limit are sections of a report by criteria.

    Raises:
        UsageError: an unknown preset, one that would require nothing, or details of Safe Harbor without it.
    """
    required: tuple[Requirement, ...] = ()
    if names:
        from sqlaudit.models.presets import find_preset, of_rows

        sections = [name for name in names if report and find_preset(name).sections and not find_preset(name).audit]
        required = of_rows(name for name in names if name not in (SafeHarbor.preset, *sections))
    if SafeHarbor.preset in names:
        return required, safe_harbor
    if safe_harbor != SafeHarbor():
        detail = spelled("zip_areas" if safe_harbor.zip_areas else "reviewed")
        raise UsageError(f"{detail} needs {spelled('preset', SafeHarbor.preset)}.")
    return required, None
