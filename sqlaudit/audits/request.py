"""The request for an audit: what every edge makes of what it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FLAG, MOST, RANGE, check_bounds, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import CLASSES, Coverage, Requirement, Roles, SafeHarbor, Target

WORST_CLASSES = 3
"""Number of worst classes that are broken down by sensitive value unless another number is given."""


@dataclass(frozen=True)
class AuditRequest:
    """A request for an audit.

    Args:
        target: the table.
        roles: the roles of its columns; accepted identifiers are among the identifiers.
        requirements: what must hold; empty = report every model that needs no further input.
        inputs: further inputs of models by name (categories, class functions, orders, trees, population …).
        coverage: identifiers that are accepted, and whether every column needs a role.
        safe_harbor: how HIPAA's Safe Harbor is checked, None = not at all.
        failing_classes: the number of failing classes to read, None = all.
        worst_classes: the number of worst classes to break down by sensitive value, 0 = none, which saves a statement;
            None = 3.
        show_values: whether the quasi-identifier values of these classes, and the sensitive values of the worst and of
            a stated person, may be read.

    Raises:
        UsageError: a number that is out of range.
    """

    target: Target
    roles: Roles
    requirements: tuple[Requirement, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    coverage: Coverage = Coverage()
    safe_harbor: SafeHarbor | None = None
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

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def worst_classes_read(self) -> int:
        """The number of worst classes to read."""
        return WORST_CLASSES if self.worst_classes is None else self.worst_classes


def request_verdicts(
    target: Target,
    roles: Roles,
    requirements: Sequence[Requirement] = (),
    inputs: Mapping[str, Any] | None = None,
    **more: Any,
) -> AuditRequest:
    """Return a request for verdicts and counts alone, for which no class is read; `more` are further fields."""
    return AuditRequest(target, roles, tuple(requirements), inputs or {}, failing_classes=0, worst_classes=0, **more)


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
