"""Numbers and shares as people write them, in ASCII digits: read exactly, and refused if too long to compute."""

from __future__ import annotations

import re
from fractions import Fraction

from sqlaudit.base.errors import UsageError

Share = int | str | float | Fraction
_WRITTEN = re.compile(r"[+-]?(\d{1,40}(/\d{1,40})?|\d{0,40}\.?\d{0,40}(e[+-]?\d{1,2})?)", re.IGNORECASE | re.ASCII)


def exact_number(value: Share) -> Fraction:
    """Return the exact number of a text such as `0.05`, `1e-3` or `1/20`; a float means the decimal that it prints as.

    Raises:
        UsageError: the text is not a number, or has more than forty digits.

    Example:
        >>> exact_number("1/20"), exact_number(0.1)
        (Fraction(1, 20), Fraction(1, 10))
    """
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Fraction(value)
    written = str(value).strip()
    try:
        if _WRITTEN.fullmatch(written):
            return Fraction(written)
    except (ValueError, ZeroDivisionError):  # the error is raised below
        pass
    raise UsageError(f"{written[:60]!r} is not a number of at most 40 digits.")


def exact_share(value: Share) -> Fraction:
    """Return the exact number of a share, which may also be written as `5%`.

    Raises:
        UsageError: the text is not a number.

    Example:
        >>> exact_share("5%"), exact_share(0.05)
        (Fraction(1, 20), Fraction(1, 20))
    """
    written = str(value).strip()
    try:
        return exact_number(written[:-1]) / 100 if written.endswith("%") else exact_number(value)
    except UsageError:
        raise UsageError(f"{written[:60]!r} is not a share. Write for example 0.05, 5% or 1/20.") from None
