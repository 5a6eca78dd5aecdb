"""Numbers that users write: exact, and no text keeps the reader busy for ever."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import Share, exact_number, exact_share
from sqlaudit.base.relation import Kind
from sqlaudit.hierarchies.cell_text import read_cell


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        (1, Fraction(1)),
        ("0.05", Fraction(1, 20)),
        (0.1, Fraction(1, 10)),
        ("5%", Fraction(1, 20)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (1e-07, Fraction(1, 10**7)),
        ("+.5", Fraction(1, 2)),
        ("-2", Fraction(-2)),
    ],
)
def test_numbers_are_exact(written: Share, exact: Fraction) -> None:
    assert exact_share(written) == exact
    if "%" not in str(written):
        assert exact_number(written) == exact


@pytest.mark.parametrize(
    "written", ["", "%", "five", "1/0", "0x10", "1_000", "nan", "1e999999999", "1e-999999999", "9" * 10**6, "1/2%3"]
)
def test_others_are_refused_at_once(written: str) -> None:
    with pytest.raises(UsageError, match="A share is a number, for instance"):
        exact_share(written)
    with pytest.raises(UsageError, match="no number of at most 40 digits"):
        exact_number(written)


def test_cells_of_a_release_are_no_trap_either() -> None:
    assert read_cell("[1, 1e300)", Kind.FLOAT) is not None
    assert read_cell("[1, 1e999999999)", Kind.FLOAT) is None
