"""What is asked about single records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import COLUMN, FLAG, NAMES, SHARE, TEXT, WHOLE, check_bounds, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import NullPolicy
from sqlaudit.column_sets.request import missing_values

_WHO, _FAR = "Which columns", "How far"


@dataclass(frozen=True)
class RecordRequest:
    """What is asked about the records.

    Args:
        qi: the quasi-identifiers: names or expressions.
        key: the columns that top records are shown by; empty = the quasi-identifiers.
        weights: the column of sampling weights (people that a row stands for, read with six decimals); None = 1 each.
        household: the column that says which rows live together; their risk is then told, too.
        max_global_risk: the wanted share of records expected to be re-identified; the threshold of individual risk (and
            of household risk) that keeps it is then told, too. Above 0 and at most 1.
        nulls: how missing values are read for unique rows and individual risk.
        max_size: the largest size of a minimal sample unique.
        sampling_fraction: of DIS-SUDA, and where no weights say it also of individual risk; above 0 and at most 1;
            None = 0.01 for DIS-SUDA, and the file is taken for the population otherwise.
        suda: whether the report tells the scores, too.
        top: how many records to show by key. show_values: whether their key may be read.

    Raises:
        UsageError: a number out of its range.
    """

    qi: tuple[str, ...] = option(
        (), NAMES, 'Quasi-identifiers, or expressions: age,sex,"year(birth)".', _WHO, metavar="COLUMNS"
    )
    key: tuple[str, ...] = option(
        (), NAMES, "What the most special records are shown by. [default: the --qi]", _WHO, metavar="COLUMNS"
    )
    weights: str | None = option(
        None, TEXT, "Sampling weights: how many people of the population a row stands for.", _WHO, metavar="COLUMN"
    )
    household: str | None = option(
        None, COLUMN, "Which rows live together: who finds one finds all of them.", _WHO, metavar="COLUMN"
    )
    nulls: NullPolicy = missing_values(_WHO)
    max_size: int = option(3, WHOLE, "The largest column sets looked at.", _FAR, shown="3", least=1)
    sampling_fraction: Fraction | None = option(
        None,
        SHARE,
        "The sample's share of the population. [default: for DIS-SUDA 0.01, else the file is the population]",
        _FAR,
        metavar="SHARE",
        above=0,
        most=1,
    )
    max_global_risk: Fraction | None = option(
        None,
        SHARE,
        "Tell above which risk records have to be protected so that at most this share of them is found.",
        _FAR,
        metavar="SHARE",
        above=0,
        most=1,
    )
    suda: bool = option(
        False, FLAG, "Also tell SUDA and DIS-SUDA scores and what each column adds (JSON always does).", _FAR
    )
    top: int = option(50, WHOLE, "How many of the most special records are shown.", _FAR, shown="50", least=0)
    show_values: bool = option(False, FLAG, "Show them, by their key, which may name persons.", _FAR)

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.household is not None and self.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"{spelled('household')} puts the risks of rows together, which overlap with "
                f"{spelled('nulls', 'wildcard')}: use {spelled('nulls', 'equal')}."
            )
