"""The checks of what no privacy model sees: direct identifiers in the table, and columns without a role. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.base.result import Status
from sqlaudit.models.check import Check

IDENTIFIER, COLUMNS_NAMED = "direct_identifier", "all_columns_named"
ALL_NAMED = "all_columns_named"
"""The requirement as a policy calls it."""


def no_identifier(column: str) -> str:
    """The requirement that a direct identifier is not in the table, as reports call it."""
    return f"no direct identifier {column}"


def with_accepted(identifiers: Sequence[str], accepted: Sequence[str]) -> tuple[str, ...]:
    """The direct identifiers, those among them that are accepted included.

    Example:
        >>> with_accepted(["mail"], ["id", "mail"])
        ('mail', 'id')
    """
    return (*identifiers, *(name for name in accepted if name not in identifiers))


def identifier_checks(identifiers: Sequence[str], accepted: Sequence[str], rows: int | None) -> tuple[Check, ...]:
    """One check a direct identifier that the table has: it fails unless it was accepted by its name.

    Every row falls short of it; `rows` is None when nobody counted them.

    Example:
        >>> [(one.parameters["column"], one.status.value) for one in identifier_checks(["mail", "id"], ["id"], 7)]
        [('mail', 'fail'), ('id', 'pass')]
    """
    return tuple(_identifier(name, name in accepted, rows) for name in identifiers)


def columns_check(unnamed: Sequence[str], rows: int | None) -> Check:
    """The check that every column has a role.

    Example:
        >>> columns_check(["bmi"], 7).status.value, columns_check([], 7).status.value
        ('fail', 'pass')
    """
    short = rows if unnamed else 0
    return Check(
        model=COLUMNS_NAMED,
        sensitive=None,
        parameters={},
        level=len(unnamed),
        levels={"columns": len(unnamed)},
        operator="<=",
        required=0,
        status=Status.FAIL if unnamed else Status.PASS,
        failing_rows=short,
        failing_share=_share(short, rows),
        text=ALL_NAMED,
        details={"columns": list(unnamed)},
    )


def _identifier(name: str, accepted: bool, rows: int | None) -> Check:
    short = 0 if accepted else rows
    return Check(
        model=IDENTIFIER,
        sensitive=None,
        parameters={"column": name},
        level=0 if accepted else 1,
        levels={"columns": 0 if accepted else 1},
        operator="<=",
        required=0,
        status=Status.PASS if accepted else Status.FAIL,
        failing_rows=short,
        failing_share=_share(short, rows),
        text=no_identifier(name),
        details={"accepted": accepted},
    )


def _share(short: int | None, rows: int | None) -> float | None:
    return short / rows if rows and short is not None else None
