"""The request for a profile."""

from __future__ import annotations

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FLAG, RANGE, check_bounds, option
from sqlaudit.base.spec import Target, target_part

EXACT_ROWS = 5_000_000
"""Larger tables are grouped in a sample, except columns with few values."""

_LOOK = "Profile"


@dataclass(frozen=True)
class ProfileRequest:
    """The request for a profile.

    Args:
        target: the table, file or query to profile.
        show_values: whether cell values may be read.
        exact_rows: tables with more rows are sampled, columns of long texts from a tenth of them on.
        sets: whether to search for columns that together single people out.

    Raises:
        UsageError: a number out of its range.
    """

    target: Target = target_part()
    show_values: bool = option(
        False, FLAG, "Show smallest, largest and frequent values, which may identify people.", _LOOK
    )
    exact_rows: int = option(
        EXACT_ROWS,
        RANGE,
        "Sample tables with more rows, and columns of long texts with more than a tenth of them.",
        _LOOK,
        metavar="N",
        shown=str(EXACT_ROWS),
        least=0,
    )
    sets: bool = option(
        True, FLAG, "Search for columns that together single people out.", _LOOK, flags=("--sets/--no-sets",)
    )

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that the profile reads."""
        return (self.target,)
