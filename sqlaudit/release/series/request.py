"""The request for several releases of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import COLUMN, FLAG, NAMES, WHOLE, Given, check_bounds, option, part
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import ROLES, Folding, Requirement, Target, make_target, values_option
from sqlaudit.models.required import requirements_part

_SHOW = "Output"


def _targets(given: Given, _: str) -> tuple[Target, ...]:
    """Return the releases as targets. A frame or a query has no name; its place in the series is one."""
    tables = given["targets"]
    several = tables if isinstance(tables, Sequence) and not isinstance(tables, str) else (tables,)
    roles = [Path(table).name if isinstance(table, str | Path) else "" for table in several]
    names = tuple(given.get("names") or ("",) * len(several))
    if len(names) != len(several):
        raise UsageError(f"{spelled('names')} has {len(names)} names for {len(several)} releases. Name all or none.")
    targets = (
        make_target(table, read=given.get("read"), role=role, name=name)
        for table, role, name in zip(several, roles, names, strict=True)
    )
    return tuple(
        target if target.label or target.relation else replace(target, label=f"release {position}")
        for position, target in enumerate(targets, 1)
    )


@dataclass(frozen=True)
class SeriesRequest:
    """The releases of one table, with the column roles, requirements and output of their audit.

    Args:
        targets: all releases, in the order they were published.
        entity: the column that identifies the person, with the same name in every release; it is not published.
        qi: the quasi-identifiers, as each release publishes them. sensitive: sensitive attributes, unchanged in each.
        values: whether persons and sensitive values that folding merges count as one; None = not given.
        counterfeits: whether rows without an entity are counterfeits: added rows of no person.
        requirements: the requirements. top: how many singled-out people to show. show_values: whether to show any.

    Raises:
        UsageError: fewer than two releases, a missing role, or a number out of bounds.
    """

    targets: tuple[Target, ...] = part(_targets, parameters=("targets", "names", "read"), kind="releases")
    entity: str = option("", COLUMN, "Column that identifies the person in every release.", ROLES, metavar="COLUMN")
    qi: tuple[str, ...] = option((), NAMES, "Quasi-identifiers, as published.", ROLES, metavar="COLUMNS")
    sensitive: tuple[str, ...] = option((), NAMES, "Sensitive columns.", ROLES, metavar="COLUMNS")
    values: Folding | None = values_option()
    counterfeits: bool = option(
        False, FLAG, "Rows without an --entity are counterfeits: added rows of no person.", ROLES
    )
    top: int = option(10, WHOLE, "Number of singled-out people to show.", _SHOW, metavar="N", shown="10", least=1)
    show_values: bool = option(False, FLAG, "Show people who are singled out: key, releases and value.", _SHOW)
    requirements: tuple[Requirement, ...] = requirements_part("OF_RELEASES", "", help="m_invariance=3", default=())

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.entity:
            raise UsageError(
                f"No column identifies the person: name it with {spelled('entity')}. Releases are compared person by "
                "person."
            )
        if not self.qi or not self.sensitive:
            lacking, what = ("qi", "quasi-identifiers") if not self.qi else ("sensitive", "sensitive columns")
            raise UsageError(f"No {what} are given. Name them with {spelled(lacking)}.")
        named = (self.entity, *self.qi, *self.sensitive)
        twice = next((name for name in named if named.count(name) > 1), None)
        if twice is not None:
            raise ConflictingRoles(f"Column {twice!r} is named twice. Give every column one role.")
        if len(self.targets) < 2:
            raise UsageError("At least two releases are needed. Name all of them, or audit a single one.")
