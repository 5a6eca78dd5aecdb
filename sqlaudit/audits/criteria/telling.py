"""How figures are told: exactly, or for the public, where small counts are rounded so that none names a person."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sqlaudit.base.result import Number
from sqlaudit.reports.figures import UNDEFINED, count, figure, percent

BASE = 5
"""Counts of a public version are multiples of this; smaller ones are told as being smaller."""


@dataclass(frozen=True)
class Telling:
    """Texts for counts and shares of people.

    Args:
        base: what counts are rounded to; 1 = not at all.
    """

    base: int = 1

    def rounded(self, number: int) -> int:
        """The nearest multiple of the base; halves upwards."""
        return (2 * number + self.base) // (2 * self.base) * self.base

    def amount(self, number: int) -> str:
        """A count of people or classes.

        Example:
            >>> Telling().amount(1234), Telling(5).amount(3), Telling(5).amount(1234), Telling(5).amount(0)
            ('1,234', 'fewer than 5', 'about 1,235', '0')
        """
        if self.base == 1 or not number:
            return count(number)
        return f"fewer than {self.base}" if number < self.base else f"about {count(self.rounded(number))}"

    def part(self, number: int, whole: int) -> str:
        """A count with its share of all, the share made of counts as they are told.

        Example:
            >>> Telling().part(3, 20), Telling(5).part(3, 20), Telling(5).part(11, 19)
            ('3 (15.0%)', 'fewer than 5 (under 25%)', 'about 10 (50.0%)')
        """
        told, all_told = self.rounded(number), max(self.rounded(whole), self.base)
        if self.base == 1 or not number:
            share = percent(Fraction(number, whole)) if whole else UNDEFINED
        elif number < self.base:
            share = f"under {figure(-(-100 * self.base // all_told))}%"
        else:
            share = percent(min(Fraction(told, all_told), Fraction(1)))
        return f"{self.amount(number)} ({share})"

    def smallest(self, size: int) -> str:
        """The size of the smallest class, rounded downwards.

        Example:
            >>> Telling().smallest(13), Telling(5).smallest(13), Telling(5).smallest(4)
            ('13', 'at least 10', 'fewer than 5')
        """
        if self.base == 1:
            return count(size)
        return f"fewer than {self.base}" if size < self.base else f"at least {count(size // self.base * self.base)}"

    def risk(self, size: int) -> str:
        """The chance to pick the right one of so many.

        Example:
            >>> Telling().risk(4), Telling(5).risk(13), Telling(5).risk(4)
            ('25.0%', 'at most 10.0%', 'above 20.0%')
        """
        if self.base == 1:
            return percent(Fraction(1, size))
        if size < self.base:
            return f"above {percent(Fraction(1, self.base))}"
        return f"at most {percent(Fraction(1, size // self.base * self.base))}"

    def average(self, classes: int, members: int) -> str:
        """The mean chance over all people: classes by members."""
        if self.base == 1:
            return percent(Fraction(classes, members))
        return self.part(classes, members).partition(" (")[2].rstrip(")")

    def ratio(self, value: Number | None) -> str:
        """A share or distance inside a class, which tells the size of a small class when it is exact.

        Example:
            >>> Telling().ratio(Fraction(2, 3)), Telling(5).ratio(Fraction(2, 3)), Telling(5).ratio(1)
            ('0.6667', 'about 0.7', 'about 1')
        """
        if self.base == 1 or value is None:
            return figure(value)
        return f"about {figure(round(float(value), 1))}"
