"""What is asked of several releases of one table. Standard library only, apart from specs."""

from __future__ import annotations

from dataclasses import dataclass

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import COLUMN, FLAG, NAMES, WHOLE, check_bounds, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import ROLES, Folding, Requirement, values_option

# What is asked of several releases of one table. Standard library only, apart from specs.

_SHOW = "Persons who are singled out"


@dataclass(frozen=True, kw_only=True)
class SeriesRequest:
    """What is asked of the releases.

    Args:
        entity: the column that names a person in every release, by the same name in each; it is not published.
        qi: the quasi-identifiers, as each release publishes them. sensitive: sensitive attributes, unchanged in each.
        values: whether persons and sensitive values that folding merges are one; None = nobody said.
        counterfeits: whether rows without an entity are counterfeits: rows that were added and stand for nobody.
        requirements: what must hold. top: how many singled-out persons are shown. show_values: whether any are.

    Raises:
        UsageError: a role that is missing, or a number without a meaning.
    """

    entity: str = option("", COLUMN, "Who a row is about; the same key in every release.", ROLES, metavar="COLUMN")
    qi: tuple[str, ...] = option((), NAMES, "Quasi-identifiers, as published.", ROLES, metavar="COLUMNS")
    sensitive: tuple[str, ...] = option((), NAMES, "Sensitive columns.", ROLES, metavar="COLUMNS")
    values: Folding | None = values_option()
    counterfeits: bool = option(
        False, FLAG, "Rows without an --entity are counterfeits: they were added and stand for nobody.", ROLES
    )
    top: int = option(10, WHOLE, "How many of them are shown.", _SHOW, metavar="N", shown="10", least=1)
    show_values: bool = option(False, FLAG, "Show them: their key, their releases and their value.", _SHOW)
    requirements: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.entity:
            raise UsageError(
                f"Name the column that says who a row is about with {spelled('entity')}: releases tell of persons "
                "together only where it is known who is in which."
            )
        if not self.qi or not self.sensitive:
            lacking, what = ("qi", "quasi-identifiers") if not self.qi else ("sensitive", "sensitive columns")
            raise UsageError(f"Name the {what} of the releases with {spelled(lacking)}.")
        named = (self.entity, *self.qi, *self.sensitive)
        twice = next((name for name in named if named.count(name) > 1), None)
        if twice is not None:
            raise UsageError(f"Column {twice!r} is named twice; give every column one role.")
