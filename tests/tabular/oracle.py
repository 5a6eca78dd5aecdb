"""Cells of published tables again, the obvious way: contributions are added up and every rule is written out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Key = tuple[Hashable, ...]
TOTAL = "Total"


@dataclass(frozen=True)
class Cell:
    """Who is in a cell, and with how much: persons, largest first."""

    contributions: tuple[Fraction, ...]

    @property
    def contributors(self) -> int:
        return len(self.contributions)

    @property
    def value(self) -> Fraction:
        return sum(self.contributions, Fraction(0))

    def top(self, number: int) -> Fraction:
        return sum(self.contributions[:number], Fraction(0))


def cells_of(rows: Iterable[tuple[Key, Any, Any]], totals: Sequence[bool]) -> dict[Key, Cell]:
    """Cells with their totals: rows are (key, person, contribution)."""
    found: dict[Key, dict[Any, Fraction]] = {}
    for key, person, given in rows:
        for one in _with_totals(key, totals):
            persons = found.setdefault(one, {})
            persons[person] = persons.get(person, Fraction(0)) + Fraction(given)
    return {key: Cell(tuple(sorted(persons.values(), reverse=True))) for key, persons in found.items()}


def _with_totals(key: Key, totals: Sequence[bool]) -> list[Key]:
    out: list[Key] = [()]
    for value, has_total in zip(key, totals, strict=True):
        out = [(*before, one) for before in out for one in ([value, TOTAL] if has_total else [value])]
    return out


def threshold(cell: Cell, n: int, zeros: bool = False) -> bool:
    """Whether a cell is unsafe by the threshold rule."""
    return cell.contributors < n and (zeros or cell.contributors > 0)


def dominance(cell: Cell, n: int, k: Fraction) -> bool:
    """The n largest have more than k percent."""
    return cell.top(n) > k / 100 * cell.value


def pq(cell: Cell, p: Fraction, q: Fraction = Fraction(100)) -> bool:
    """The others have less than p/q of the largest."""
    return cell.value - cell.top(2) < p / q * cell.top(1)


def full(cells: Mapping[Key, Cell], key: Key, place: int) -> bool:
    """Everybody of the group that differs from the cell in one dimension alone is in the cell.

    A published total counts somebody once who is in several cells of the group.
    """
    if key[place] == TOTAL:
        return False
    alike = [one for one in cells if _same_but(one, key, place)]
    group = [one for one in alike if one[place] == TOTAL] or alike
    return cells[key].contributors == sum(cells[one].contributors for one in group) > 0


def _same_but(one: Key, other: Key, place: int) -> bool:
    return all(a == b for at, (a, b) in enumerate(zip(one, other, strict=True)) if at != place)
