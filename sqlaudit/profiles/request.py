"""How a profile looks at a table."""

from __future__ import annotations

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FLAG, RANGE, check_bounds, option

EXACT_ROWS = 5_000_000
"""Larger tables are grouped in a sample, except columns with few values."""

_LOOK = "How to look"


@dataclass(frozen=True)
class ProfileRequest:
    """How a profile looks at a table.

    Args:
        show_values: whether cell values may be read.
        exact_rows: tables with more rows are looked at in a sample.
        sets: whether to look for columns that together pick people out.

    Raises:
        UsageError: a number out of its range.
    """

    show_values: bool = option(
        False, FLAG, "Show smallest, largest and frequent values, which may name persons.", _LOOK
    )
    exact_rows: int = option(
        EXACT_ROWS, RANGE, "Look at larger tables in a sample.", _LOOK, metavar="N", shown=str(EXACT_ROWS), least=0
    )
    sets: bool = option(
        True, FLAG, "Look for columns that together pick people out.", _LOOK, flags=("--sets/--no-sets",)
    )

    def __post_init__(self) -> None:
        check_bounds(self)


AS_USUAL = ProfileRequest()
