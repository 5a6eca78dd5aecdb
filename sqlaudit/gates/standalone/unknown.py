"""What a model may know of a sensitive attribute that nobody has looked at: everything is a column of the statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.gates.standalone.pieces import piece
from sqlaudit.models.closeness import OrderedTCloseness


@dataclass(frozen=True)
class Later:
    """A positive whole number that only the database will know, as SQL; products with it are SQL, too.

    Example:
        >>> str(2 * Later("total"))
        'total * 2'
    """

    sql: str

    def __str__(self) -> str:
        return self.sql

    def __mul__(self, other: object) -> Later:
        return Later(f"{self.sql} * {other}")

    __rmul__ = __mul__

    def __gt__(self, other: object) -> bool:
        """It is at least 1, and nothing else is ever compared with it: `max(1, …)`."""
        return True


class UnknownTable(SensitiveTable):
    """A sensitive attribute whose totals are columns of the statement: `total` and `value_count`."""

    @property
    def total(self) -> Any:
        """N."""
        return Later("total")

    @property
    def distinct(self) -> Any:
        """M."""
        return Later("value_count")


def unknown_table(name: str) -> UnknownTable:
    """The table of an attribute of that name."""
    return UnknownTable(name, (), has_null=False, ordered=True, text=False)


class NaturallyOrdered(OrderedTCloseness):
    """Ordered t-closeness over all values that occur, in their natural order."""

    def prepare(self) -> None:
        """NULLs are counted by the statement: their check stays undecided."""

    def unit(self) -> Any:
        """M − 1, at least 1."""
        return Later(piece("values_less_one"))

    def arguments(self) -> dict[str, Any]:
        """The gaps are there when the fact is folded."""
        return {"order": None}
