"""Contributions and weights as whole multiples of their last decimal place."""

from __future__ import annotations

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import spoken
from sqlaudit.base.parameter_names import about
from sqlaudit.base.relation import Kind
from sqlaudit.base.sql import Raw, expression

PLACES = 9
"""Largest number of decimal places with which contributions and weights are read."""


def to_integer_units(column: Resolved, option: str, dialect: str) -> tuple[Raw, int]:
    """Return the SQL of a number as a whole multiple of its last decimal place, and the number of decimal places.

    Raises:
        UsageError: the column is not numeric.
    """
    if column.kind is Kind.INTEGER:
        return Raw(column.sql), 0
    if column.column is not None and column.kind not in (Kind.DECIMAL, Kind.FLOAT, Kind.OTHER):
        raise UsageError(
            f"{about(option)}: {column.label!r} is not numeric. Name a column of numbers, or count texts with an "
            "expression: CASE WHEN answer = 'yes' THEN 1 ELSE 0 END."
        )
    # The decimal places of `DECIMAL(18,3)`; `PLACES` of any other type
    _, _, inside = column.type.partition("(")
    parts = inside.rstrip(")").split(",")
    places = min(int(parts[1]), PLACES) if len(parts) == 2 and parts[1].strip().isdecimal() else PLACES
    units = expression("tabular/tabular_units.sql", dialect, value=column, places=places, whole=spoken(dialect).wide)
    return Raw(units), places
