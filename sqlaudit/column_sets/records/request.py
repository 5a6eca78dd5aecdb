"""The request for the risk of single records."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import COLUMN, FLAG, NAMES, SHARE, TEXT, WHOLE, check_bounds, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import NullPolicy, Target, among_roles, target_part
from sqlaudit.column_sets.request import missing_values

_WHO, _FAR = "Columns", "Extent"


def _among_roles(role: str) -> dict[str, Any]:
    """Return that an option's value may be among the roles; sensitive columns and identifiers play no part here."""
    return among_roles(role, passed_over=("sensitive", "identifiers"))


@dataclass(frozen=True)
class RecordRequest:
    """The columns, limits and output of an audit of single records.

    Args:
        target: the table, file or query to audit.
        qi: the quasi-identifiers: names or expressions.
        key: the columns that show top records; empty = the quasi-identifiers.
        weights: the column of sampling weights (people that a row stands for, read with six decimals); None = 1 each.
        household: the column of households; adds their risk.
        max_global_risk: the required share of records expected to be re-identified; adds the threshold of individual
            risk (and of household risk) for it. Above 0 and at most 1.
        nulls: how missing values are read for unique rows and individual risk.
        max_size: the largest size of a minimal sample unique.
        sampling_fraction: of DIS-SUDA, and without weights also of individual risk; above 0 and at most 1;
            None = 0.01 for DIS-SUDA, and the file is treated as the population otherwise.
        suda: whether to report the scores, too.
        top: number of records to show by key.
        show_values: whether to read their key.

    Raises:
        UsageError: a number out of its range.
    """

    target: Target = target_part()
    qi: tuple[str, ...] = option(
        (),
        NAMES,
        'Quasi-identifiers, or expressions: age,sex,"year(birth)".',
        _WHO,
        metavar="COLUMNS",
        **_among_roles("quasi_identifiers"),
    )
    key: tuple[str, ...] = option(
        (), NAMES, "Columns that show the records with the highest scores. [default: the --qi]", _WHO, metavar="COLUMNS"
    )
    weights: str | None = option(
        None, TEXT, "Sampling weights: how many people a row stands for.", _WHO, metavar="COLUMN"
    )
    household: str | None = option(
        None, COLUMN, "Column of households: finding one member finds all.", _WHO, metavar="COLUMN"
    )
    nulls: NullPolicy = missing_values(_WHO, **_among_roles("nulls"))
    max_size: int = option(3, WHOLE, "Largest number of columns of a set.", _FAR, shown="3", least=1)
    sampling_fraction: Fraction | None = option(
        None,
        SHARE,
        "Share of the population in the sample. [default: for DIS-SUDA 0.01, else the file is the population]",
        _FAR,
        metavar="SHARE",
        above=0,
        most=1,
    )
    max_global_risk: Fraction | None = option(
        None,
        SHARE,
        "Report the risk above which records need protection, so that at most this share is re-identified.",
        _FAR,
        metavar="SHARE",
        above=0,
        most=1,
    )
    suda: bool = option(
        False,
        FLAG,
        "Also report SUDA and DIS-SUDA scores and each column's contribution (JSON always does).",
        _FAR,
        only_command_line=True,
    )
    top: int = option(50, WHOLE, "Number of records with the highest scores to show.", _FAR, shown="50", least=0)
    show_values: bool = option(False, FLAG, "Show records by their key, which may identify people.", _FAR)

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.household is not None and self.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"{spelled('household')} cannot be combined with {spelled('nulls', 'wildcard')}, because classes "
                f"overlap: use {spelled('nulls', 'equal')}."
            )

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that the audit reads."""
        return (self.target,)
