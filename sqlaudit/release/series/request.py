"""The request for several releases of one table. Standard library only, apart from specs."""

from __future__ import annotations

from dataclasses import dataclass

from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.options import COLUMN, FLAG, NAMES, WHOLE, check_bounds, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import ROLES, Folding, Requirement, values_option

_SHOW = "Output"


@dataclass(frozen=True, kw_only=True)
class SeriesRequest:
    """The column roles, requirements and output of an audit of several releases.

    Args:
        entity: the column that identifies the person, with the same name in every release; it is not published.
        qi: the quasi-identifiers, as each release publishes them. sensitive: sensitive attributes, unchanged in each.
        values: whether persons and sensitive values that folding merges count as one; None = not given.
        counterfeits: whether rows without an entity are counterfeits: added rows of no person.
        requirements: the requirements. top: how many singled-out people to show. show_values: whether to show any.

    Raises:
        UsageError: a missing role, or a number out of bounds.
    """

    entity: str = option("", COLUMN, "Column that identifies the person in every release.", ROLES, metavar="COLUMN")
    qi: tuple[str, ...] = option((), NAMES, "Quasi-identifiers, as published.", ROLES, metavar="COLUMNS")
    sensitive: tuple[str, ...] = option((), NAMES, "Sensitive columns.", ROLES, metavar="COLUMNS")
    values: Folding | None = values_option()
    counterfeits: bool = option(
        False, FLAG, "Rows without an --entity are counterfeits: added rows of no person.", ROLES
    )
    top: int = option(10, WHOLE, "Number of singled-out people to show.", _SHOW, metavar="N", shown="10", least=1)
    show_values: bool = option(False, FLAG, "Show people who are singled out: key, releases and value.", _SHOW)
    requirements: tuple[Requirement, ...] = ()

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
