"""Cubes: moves of cells at the corners of a cube, which large tables are protected with before any program runs.

A cell that moves up, one beside it in each dimension that moves down, and so on through all corners: no sum changes.
The hypercube method of statistical offices (Giessing and Repsilber 2002) chooses the cheapest of all such cubes.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from sqlaudit.tabular.secondary.blocks import Floats
from sqlaudit.tabular.secondary.structure import Equations, Integers
from sqlaudit.tabular.secondary.system import Lookup

_CUBES = 250_000
"""So many cubes are looked at for one cell; where there are more, of each dimension the cheapest cells beside it."""
_WIDEST = 1 << 62


class Cubes:
    """Finds cubes in one table.

    Args:
        keys: (cells × dimensions) the codes of every cell. equations: between them.
        down, up: how far each cell can move.
    """

    def __init__(self, keys: Integers, equations: Equations, down: Integers, up: Integers) -> None:
        self.keys, self.equations, self.down, self.up = keys.astype(np.int64), equations, down, up
        sizes = (self.keys.max(axis=0, initial=0) + 1).tolist()
        self._strides = np.array([prod(sizes[place + 1 :]) for place in range(len(sizes))], dtype=object)
        self.usable = prod(sizes) < _WIDEST
        self._strides = self._strides.astype(np.int64) if self.usable else np.zeros(len(sizes), dtype=np.int64)
        packed = self.keys @ self._strides
        self._order = np.argsort(packed, kind="stable")
        self._packed = packed[self._order]
        self._of_part = Lookup.of(equations.parts, equations.cells)
        self._owners = equations.owners
        self._total = np.zeros(equations.cells, dtype=np.bool_)
        self._total[equations.totals] = True

    def cheapest(self, cell: int, amount: int, costs: Floats) -> Integers | None:
        """The cheapest cube that moves a cell by an amount; None where there is none, or the cell is a total itself.

        Args:
            cell: what moves. amount: by how much. costs: of every cell, infinite for one that must not move.
        """
        if not self.usable or self._total[cell] or (self.up if amount > 0 else self.down)[cell] < abs(amount):
            return None
        steps = self._steps(cell, costs)
        if not steps:
            return None
        shape = [len(one) for one in steps]
        signs = {corner: amount * (-1) ** sum(corner) for corner in product((0, 1), repeat=len(steps))}
        corners = {corner: self._cells(cell, corner, steps) for corner in signs}
        total = np.zeros(shape)
        for corner, cells in corners.items():
            if any(corner):
                total = total + self._cost(cells, signs[corner], costs)
        best = np.unravel_index(int(np.argmin(total)), shape)
        if not np.isfinite(total[best]):
            return None
        move = np.zeros(len(self.keys), dtype=np.int64)
        for corner, cells in corners.items():
            at = tuple(int(place) if used else 0 for place, used in zip(best, corner, strict=True))
            move[cells[at]] = signs[corner]
        return move

    def _steps(self, cell: int, costs: Floats) -> list[Integers]:
        """For each dimension with a sum of which the cell is a part, what has to be added to its key for others."""
        most = int(_CUBES ** (1 / max(1, self.keys.shape[1])))
        steps: dict[int, Integers] = {}
        for equation in self._owners[self._of_part.entries(np.array([cell]))].tolist():
            parts = self.equations.parts_of(equation)
            others = parts[(parts != cell) & ~self._total[parts] & np.isfinite(costs[parts])]
            if not len(others):
                return []
            axis = int(np.flatnonzero(self.keys[others[0]] != self.keys[cell])[0])
            cheap = others[np.argsort(costs[others], kind="stable")[:most]]
            steps.setdefault(axis, (self.keys[cheap, axis] - self.keys[cell, axis]) * self._strides[axis])
        return list(steps.values())

    def _cells(self, cell: int, corner: tuple[int, ...], steps: list[Integers]) -> Integers:
        """The cells at one corner of all cubes, -1 where the table has none."""
        wanted = np.full([1] * len(steps), int(self.keys[cell] @ self._strides), dtype=np.int64)
        for place, (used, step) in enumerate(zip(corner, steps, strict=True)):
            if used:
                wanted = wanted + step.reshape([-1 if at == place else 1 for at in range(len(steps))])
        place_of = np.minimum(np.searchsorted(self._packed, wanted), len(self._packed) - 1)
        return np.where(self._packed[place_of] == wanted, self._order[place_of], -1)

    def _cost(self, cells: Integers, amount: int, costs: Floats) -> Floats:
        """What it costs to move cells by an amount, infinite where they cannot."""
        room = self.up if amount > 0 else self.down
        fine = (cells >= 0) & (room[cells] >= abs(amount))
        return np.where(fine, costs[cells], np.inf)
