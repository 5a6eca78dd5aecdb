"""The attacker of l-diversity: k negated atoms, "this person does not have that value".

The best use is to rule out the k most frequent other values for one person, which leaves
r1 / (n - r2 - … - r(k+1)); with m distinct values it is 1 from k = m - 1 on. (Martin et al., section 4;
it is the condition of recursive (c / (1 - c), k + 2)-diversity.)
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sqlaudit.disclosure.products import Block, FloatArray

# Two different fractions below 1 with denominators up to this differ by more than the spacing of floats there, so
# equal quotients come from equal fractions.
_DECIDED_BY_FLOATS = 2**26


class NegatedAtoms:
    """The largest disclosure by 0 … `levels` - 1 negated atoms over a stream of blocks, exactly.

    A quotient of two integers below 2**53 is correctly rounded, so the order of floats is never wrong; only equal
    floats need a second look, and only in very large classes.
    """

    def __init__(self, levels: int) -> None:
        self._best = [Fraction(0)] * levels
        self._floats = [0.0] * levels

    def see(self, block: Block) -> None:
        """Take the classes of one block into account."""
        largest = block.cumulative[0]
        for k in range(len(self._best)):
            left = block.n - (block.cumulative[k] - largest)
            share = largest / left
            highest = float(share.max())
            if highest >= self._floats[k]:
                places = np.flatnonzero(share == highest)
                self._raise(k, highest, largest[places], left[places])

    def _raise(self, k: int, highest: float, largest: FloatArray, left: FloatArray) -> None:
        """Some classes whose share is the same float, no lower than the best so far."""
        if max(float(left.max()), self._best[k].denominator) <= _DECIDED_BY_FLOATS:
            if highest == self._floats[k]:
                return
            largest, left = largest[:1], left[:1]
        pairs = set(zip(largest.tolist(), left.tolist(), strict=True))
        found = max(Fraction(int(value), int(rows)) for value, rows in pairs)
        self._best[k], self._floats[k] = max(self._best[k], found), highest

    def result(self) -> list[Fraction]:
        """The maximum for each number of negated atoms."""
        return list(self._best)
