"""Published totals that are not the sums of their parts: mistakes, or noise that was added to every cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlaudit.tabular.cells import Bools, CellMeasure
from sqlaudit.tabular.exact import as_integers
from sqlaudit.tabular.secondary.rounding import rounding_base
from sqlaudit.tabular.secondary.structure import Integers, wrong_sums
from sqlaudit.tabular.totals import AddedUp

_FEWEST = 5
"""So many totals must miss their parts, in both directions, and half of all that can be compared, to be noise."""


@dataclass(frozen=True, eq=False)
class MissedSums:
    """Totals of one measure that differ from their parts by more than the rounding of each.

    Args:
        equations: of these. compared: how many equations have all their numbers. small: whether nearly all differ by so
            little as noise in each cell makes it.
    """

    equations: Integers
    compared: int
    small: bool

    @property
    def noisy(self) -> bool:
        """Whether that is so in so many places that numbers were changed on purpose."""
        missed = len(self.equations)
        return self.small and missed >= _FEWEST and 2 * missed >= self.compared


def missed_sums(name: str, one: CellMeasure, added: AddedUp) -> MissedSums | None:
    """The totals of a measure that are not the sum of their parts; None of numbers that are too large to add up.

    Args:
        name: of the measure, `count` or `value`.
    """
    units = as_integers(one)
    if units is None:
        return None
    equations = added.equations
    values, known, made_of = added.summed(units, one.known)
    wrong = wrong_sums(equations, values, known)
    parts = equations.sums(made_of)[wrong] + made_of[equations.totals[wrong]]
    apart = equations.residuals(values)[wrong]
    off = np.abs(apart)
    base = rounding_base(units[one.known])
    each = 2 * (base.base - 1) if base is not None else int(name == "value")
    beyond = 2 * off > parts * each
    wrong, parts, off, apart = wrong[beyond], parts[beyond], off[beyond], apart[beyond]
    near = off <= np.abs(values[equations.totals[wrong]]) // 10 + 3 * parts * 10**one.places
    compared = int((~equations.touching(~known)).sum())
    small = 10 * int(near.sum()) >= 9 * len(wrong) and bool((apart > 0).any()) and bool((apart < 0).any())
    return MissedSums(wrong, compared, small)


def broken(missed: MissedSums, added: AddedUp) -> Bools:
    """The cells of such totals, or their parts where the total itself is not published."""
    found = np.zeros(added.equations.cells, dtype=np.bool_)
    for equation in missed.equations.tolist():
        total = added.equations.totals[equation]
        found[total if total < added.cells else added.equations.parts_of(equation)] = True
    return found[: added.cells]
