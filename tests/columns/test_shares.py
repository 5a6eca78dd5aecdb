"""Shares in Python: exact, as numbers or as people write them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sqlaudit.api_columns import _share
from sqlaudit.errors import UsageError


@pytest.mark.parametrize(
    ("written", "exact"),
    [("1%", Fraction(1, 100)), ("0.01", Fraction(1, 100)), ("1/3", Fraction(1, 3)), (0.1, Fraction(1, 10)), (0, 0)],
)
def test_a_share_is_exact(written: str | float, exact: Fraction) -> None:
    assert _share(written) == exact


@pytest.mark.parametrize("written", ["much", "1/0", ""])
def test_what_is_no_number_is_said_to_be_none(written: str) -> None:
    with pytest.raises(UsageError, match="A share is a number"):
        _share(written)
