"""M(j): the least probability that none of j atoms about the people of one class holds.

M(j) is the minimum, over the ways to write j as a sum of parts k0 >= k1 >= ... (part i = number of atoms about
person i), of the product of (n - i - R(k_i)) / (n - i), where R(k) is the sum of the k largest counts. (Martin et al.,
Lemma 12 and Minimize1.) It is computed twice: for all signatures in floats with a proven bound, and for the few
that matter in integers.

Both run the same dynamic program. Parts are placed from the largest size to the smallest, so descending order comes
for free: least[i][t] is the least product over i people and t atoms with parts of the sizes seen so far, and a part
of size v leads from least[i][t] to least[i + 1][t + v].

Two facts keep it simple. M(j) is 0 exactly if j is at least the number m of distinct values (all atoms go to one
person). And a partition with more parts than the class has people has j > n >= m, so M(j) is 0 anyway: its factors
may be anything that is not negative, and no division by zero is needed to rule it out.

How exact the floats are: n and R are integers below 2**53, so a factor has one rounding. A product of l <= j factors
has at most 2l - 1 <= 2j - 1. A product of M's of several classes with J atoms together then has at most 2J - 1, and
multiplied by n / r1 at most 2J + 1. With u = 2**-53 such a value is exact up to a factor 1 + d with
|d| <= g = (2J + 1)u / (1 - (2J + 1)u); the minimum of many such values has the same bound. If x < y(1 - 2g) in floats
then x < y in truth. `tolerance` is more than twice 2g, which also covers the rounding of the comparison itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.signatures import Signatures

FloatArray = NDArray[np.float64]

# A positive M below this may have lost digits to underflow. It is raised to the limit, and whatever is then below
# UNCERTAIN (the limit times the largest possible n / r1, and more) is compared in exact arithmetic only.
SMALLEST = 1e-250
UNCERTAIN = 1e-230

_WORKSPACE_BYTES = 4 * 2**20


def tolerance(atoms: int) -> float:
    """A relative distance of two floats that decides their order, for up to `atoms` atoms (see the module's text)."""
    return (16 * atoms + 16) * 2.0**-53


@dataclass(frozen=True)
class SignatureBlock:
    """M(0 … J) of some consecutive signatures.

    start: position of the first. n, weight (n / r1): shape (rows,). cumulative: R(1 … J), shape (J, rows).
    products: M(0 … J), shape (J + 1, rows).
    """

    start: int
    n: FloatArray
    weight: FloatArray
    cumulative: FloatArray
    products: FloatArray


class ProductKernel:
    """M(0 … `atoms`) of many signatures at once, in memory that is used again for every block."""

    def __init__(self, atoms: int) -> None:
        self._atoms = atoms
        self.block = max(16, min(8192, _WORKSPACE_BYTES // (4 * (atoms + 1) ** 2)))
        # Row t - i of part i: with i people there are at least i atoms.
        self._least = [np.empty((atoms + 1 - people, self.block)) for people in range(atoms + 1)]
        self._product = np.empty((atoms + 1, self.block))
        self._factor = np.empty((2, self.block))

    def __call__(self, n: FloatArray, cumulative: FloatArray) -> FloatArray:
        """M(0 … atoms), shape (atoms + 1, rows), for at most `block` signatures; `cumulative` holds R(1 … atoms)."""
        rows, atoms = len(n), self._atoms
        least = [table[:, :rows] for table in self._least]
        for table in least[2:]:
            table.fill(np.inf)
        for size in range(atoms, 0, -1):
            free = n - cumulative[size - 1]
            for person in range(atoms // size):
                factor = self._factors(n, free, person)
                if person == 0:
                    least[1][size - 1] = factor
                    continue
                first, last = person * size, atoms - size  # atoms already placed on `person` people
                source = least[person][first - person : last - person + 1]
                target = least[person + 1][first + size - person - 1 : last + size - person]
                product = np.multiply(source, factor, out=self._product[: len(source), :rows])
                np.minimum(target, product, out=target)
        return self._smallest(least, n, cumulative)

    def _factors(self, n: FloatArray, free: FloatArray, person: int) -> FloatArray:
        factor, people = self._factor[0, : len(n)], self._factor[1, : len(n)]
        np.maximum(np.subtract(free, person, out=factor), 0.0, out=factor)
        np.maximum(np.subtract(n, person, out=people), 1.0, out=people)
        return np.divide(factor, people, out=factor)

    def _smallest(self, least: list[FloatArray], n: FloatArray, cumulative: FloatArray) -> FloatArray:
        products = np.empty((self._atoms + 1, len(n)))
        products[0] = 1.0
        if self._atoms:
            products[1:] = least[1]
        for people in range(2, self._atoms + 1):
            rows = products[people:]
            np.minimum(rows, least[people], out=rows)
        if products.min(initial=1.0) < SMALLEST:
            np.maximum(products[1:], np.where(cumulative < n, SMALLEST, 0.0), out=products[1:])
        return products


def blocks(signatures: Signatures, atoms: int) -> Iterator[SignatureBlock]:
    """M(0 … atoms) of all signatures, block by block, so that memory does not grow with their number; atoms >= 1."""
    kernel = ProductKernel(atoms)
    for start in range(0, len(signatures), kernel.block):
        stop = start + kernel.block
        n = signatures.n[start:stop].astype(np.float64)
        cumulative = signatures.counts[start:stop, :atoms].T.astype(np.float64, order="C")
        for rank in range(1, atoms):  # several times faster than cumsum along the first axis
            cumulative[rank] += cumulative[rank - 1]
        yield SignatureBlock(start, n, n / cumulative[0], cumulative, kernel(n, cumulative))
