"""Which further cells have to be hidden, so that totals tell too little of the first ones, at the least cost.

Two ways. Fast: one sensitive cell after the other gets the cheapest move; cells that moves need are hidden, and those
that turn out to be superfluous are published again. Exact: Fischetti and Salazar-González, Models and algorithms for
optimizing cell suppression (JASA 2001): an integer program chooses cells; where these let a cell move too little, the
equations that prove it become one more row of the program. Its bound is a bound of every answer.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.remedies.suppress.solver import solve
from sqlaudit.tabular.secondary.blocks import Floats
from sqlaudit.tabular.secondary.choices import Choices
from sqlaudit.tabular.secondary.contributors import ask_contributors
from sqlaudit.tabular.secondary.cubes import Cubes
from sqlaudit.tabular.secondary.hiding import Hiding, Need, Protected, needs_of
from sqlaudit.tabular.secondary.intervals import Deduced, Protection, deduce, judge
from sqlaudit.tabular.secondary.moves import NEAR, Moves
from sqlaudit.tabular.secondary.structure import Booleans, Integers
from sqlaudit.tabular.secondary.system import FREE

_LARGE = 20_000
"""Parts of all sums of a table from which on moves are cubes, where there are some: programs would take too long."""
_FARTHER = 1000
"""A cell without limit moves at most so many times as far as the farthest that a cell has to."""

_AUDITED = 10.0
"""Seconds for what an attacker deduces of the answer: moves have proven already that it is open enough."""
_PROVING = 1.0
"""Seconds that the bound of the fast answer may take at least; else as many as the answer."""


def hide(hiding: Hiding, *, exact: bool = True, seconds: float | None = None) -> Protected:
    """Hide further cells, so that the sensitive ones are protected, at a low cost or the least.

    Args:
        hiding: what is asked. exact: look for the least cost, else end with the first good answer.
        seconds: how long it may take, None = as long as it needs.

    Raises:
        UsageError: the true values do not add up. MissingDriver: HiGHS is not installed.
    """
    if hiding.equations.residuals(hiding.values).any():
        raise UsageError("Cells that do not add up cannot be protected: correct the totals first.")
    search = _Hiding(hiding, None if seconds is None else time.monotonic() + seconds)
    began = time.monotonic()
    search.start()
    search.prove(max(_PROVING, time.monotonic() - began))
    if exact:
        search.improve()
    return search.answer()


class _Hiding:
    """The search."""

    def __init__(self, hiding: Hiding, end: float | None) -> None:
        self.hiding, self.end = hiding, end
        self.needs = needs_of(hiding)
        farthest = max([need.above + need.below + need.sliding for need in self.needs], default=1)
        self.moves = Moves(hiding.equations, hiding.down, hiding.up, _FARTHER * max(1, farthest), end)
        self.cubes: Cubes | None = None
        if hiding.keys is not None and len(hiding.equations.parts) > _LARGE:
            self.cubes = Cubes(hiding.keys, hiding.equations, hiding.down, hiding.up)
        self.fixed = hiding.sensitive | (hiding.costs <= 0)
        self.hidden = self.fixed.copy()
        self.best: tuple[int, Booleans, list[list[Integers]]] | None = None
        self.open: list[int] = []
        self.bound, self.stopped = 0, ""
        self.choices = Choices(hiding, self.moves, self.fixed)

    def start(self) -> None:
        """The fast answer."""
        for need in sorted(self.needs, key=lambda one: -one.above - one.below - one.sliding):
            found = self._protect(need)
            if self._late():
                break
            if not found:
                self.open.append(need.cell)
        self.needs = [need for need in self.needs if need.cell not in self.open]
        self._ask_contributors()
        self._publish_again()
        self._ask_contributors()  # moves are others now
        self._keep()

    def _ask_contributors(self) -> None:
        """Further needs: each sensitive cell must move without those whose contributor knows them."""
        alone = self.hiding.alone
        if alone is None:
            return
        asked = {(need.cell, need.known) for need in self.needs}
        for need in [need for need in self.needs if need.known is None]:
            moved = np.logical_or.reduce([alone & (move != 0) for move in need.moves]) if need.moves else alone & False
            for cell in np.flatnonzero(moved).tolist():
                further = replace(need, known=cell, moves=[])
                if cell == need.cell or (need.cell, cell) in asked:
                    continue
                if self._protect(further):
                    self.needs.append(further)
                elif self._late():  # the audit of the answer asks them again
                    return
                elif need.cell not in self.open:
                    self.open.append(need.cell)
        self.needs = [need for need in self.needs if need.cell not in self.open]

    def _late(self) -> bool:
        """Whether the time is used up, which is then why the search ended."""
        if self.moves.late:
            self.stopped = "time"
        return self.moves.late

    def improve(self) -> None:
        """Rows from proofs, and the integer program again, until its answer protects everything."""
        program = self.choices.program
        while self.best is not None and self.bound < self.best[0] and not self.stopped:
            if self._late():
                return
            left = None if self.end is None else max(0.0, self.end - time.monotonic())
            solved = solve(program, step=1.0, seconds=left)
            if math.isfinite(solved.bound):
                self.bound = max(self.bound, min(math.ceil(solved.bound - NEAR), self.best[0]))
            if solved.stopped or solved.values is None:
                self.stopped = solved.stopped
                return
            chosen = self.fixed | (solved.values > 0.5)
            narrower = self.choices.forbid(chosen, self.needs, self.end)
            self._try(chosen)
            if not narrower:  # moves of fractions protect: what whole numbers need is what was found
                return

    def prove(self, seconds: float) -> None:
        """A bound for the fast answer: the same program, where cells may be hidden in part, in so many seconds."""
        program, chosen = self.choices.program, self.fixed
        end = time.monotonic() + seconds if self.end is None else min(self.end, time.monotonic() + seconds)
        while self.best is not None and self.bound < self.best[0]:
            half = (time.monotonic() + end) / 2  # the other half of the time is for the program
            if not self.choices.forbid(chosen, self.needs, half) or (left := end - time.monotonic()) <= 0:
                return
            solved = solve(program, step=1.0, seconds=left, relaxed=True)
            if solved.stopped or solved.values is None:
                if solved.stopped == "interrupted":
                    self.stopped = solved.stopped
                return
            proven = math.ceil(solved.bound * (1 - 1e-9) - NEAR)
            self.bound = max(self.bound, min(proven, self.best[0]))
            chosen = self.fixed | (solved.values > NEAR)

    def answer(self) -> Protected:
        """The best answer, audited."""
        hiding = self.hiding
        cost, hidden, moves = self.best if self.best is not None else (0, self.fixed, [])
        left = None if self.end is None else max(1.0, self.end - time.monotonic())
        deduced = deduce(hiding.published(hidden), seconds=None if left is None else min(left, _AUDITED))
        for move in (one for some in moves for one in some):
            table = (hiding.values + move)[deduced.cells] * deduced.scale
            np.minimum(deduced.least, table, out=deduced.least)
            np.maximum(deduced.most, table, out=deduced.most)
        truth = hiding.values[deduced.cells] * deduced.scale
        np.minimum(deduced.least, truth, out=deduced.least)
        np.maximum(deduced.most, truth, out=deduced.most)
        verdicts = judge(self._by_insiders(deduced, hidden, left), self._protection())
        bound = self.bound if self.needs else 0
        return Protected(
            hidden, cost, bound, np.array(sorted(self.open), dtype=np.int64), deduced, verdicts, self.stopped
        )

    def _by_insiders(self, outsider: Deduced, hidden: Booleans, seconds: float | None) -> Deduced:
        """What those know who know most: outsiders, or somebody alone in a hidden cell."""
        hiding = self.hiding
        if hiding.alone is None or not bool((hiding.alone & hidden).any()):
            return outsider
        found = ask_contributors(
            hiding.published(hidden), outsider, hiding.alone & hidden, hiding.values, seconds=seconds
        )
        if found.unfinished:
            return replace(outsider, least=outsider.least * 0 + FREE, most=outsider.most * 0 - FREE)
        return found.instead(outsider)

    def _protection(self) -> Protection:
        """What is asked of the sensitive cells alone: others may be hidden as little as they like."""
        asked, sensitive = self.hiding.protection, self.hiding.sensitive
        zero = np.zeros(len(sensitive), dtype=np.int64)
        below, above = (zero if one is None else np.where(sensitive, one, 0) for one in (asked.below, asked.above))
        return Protection(np.where(sensitive, asked.sliding, 0), self.hiding.values, below, above)

    def _costs(self, hidden: Booleans) -> Floats:
        return np.where(hidden, 0.0, self.hiding.costs).astype(np.float64)

    def _protect(self, need: Need) -> bool:
        """Find moves for a need, and hide what they move."""
        for way in need.ways(int(self.hiding.up[need.cell]), int(self.hiding.down[need.cell])):
            costs, moves = self._costs(self.hidden), []
            if need.known is not None:
                costs[need.known] = np.inf
            for amount in way:
                move = self._cheapest(need.cell, amount, costs)
                if move is None:
                    break
                moves.append(move)
                costs[move != 0] = 0.0
            else:
                need.moves = moves
                for move in moves:
                    self.hidden |= move != 0
                return True
        return False

    def _cheapest(self, cell: int, amount: int, costs: Floats) -> Integers | None:
        """The cheapest move, in large tables along a cube."""
        cube = None if self.cubes is None else self.cubes.cheapest(cell, amount, costs)
        if cube is not None and not self.hiding.equations.residuals(cube).any():
            return cube
        return self.moves.cheapest(cell, amount, costs)

    def _cubes_within(self, cubes: Cubes, need: Need, hidden: Booleans) -> bool:
        """Find cubes for a need among hidden cells."""
        costs = np.where(hidden, 0.0, np.inf)
        for way in need.ways(int(self.hiding.up[need.cell]), int(self.hiding.down[need.cell])):
            found = [cubes.cheapest(need.cell, amount, costs) for amount in way]
            moves = [one for one in found if one is not None and not self.hiding.equations.residuals(one).any()]
            if len(moves) == len(way):
                need.moves = moves
                return True
        return False

    def _protect_within(self, need: Need, hidden: Booleans) -> bool:
        """Find moves for a need that move hidden cells only."""
        hidden = need.movable(hidden)
        if self.cubes is not None:
            return self._cubes_within(self.cubes, need, hidden)
        up, down = (math.floor(self.moves.farthest(need.cell, sign, hidden)[0] + NEAR) for sign in (1, -1))
        above = min(up, max(need.above, need.sliding - need.below))
        below = max(need.below, need.sliding - above)
        if above < need.above or below > down:
            return False
        costs = np.where(hidden, 0.0, np.inf)
        found = [self.moves.cheapest(need.cell, amount, costs) for amount in (above, -below) if amount]
        moves = [move for move in found if move is not None]
        if len(moves) < len(found):
            return False
        need.moves = moves
        return True

    def _publish_again(self) -> None:
        """Publish cells, the dearest first, that no need needs."""
        further = np.flatnonzero(self.hidden & ~self.fixed)
        for cell in further[np.argsort(-self.hiding.costs[further], kind="stable")].tolist():
            if self._late():
                return
            users = [need for need in self.needs if any(move[cell] for move in need.moves)]
            before = [need.moves for need in users]
            without = self.hidden.copy()
            without[cell] = False
            self.hidden, kept = without, self.hidden
            if not all(self._protect_within(need, without) for need in users):
                self.hidden = kept
                for need, moves in zip(users, before, strict=True):
                    need.moves = moves

    def _keep(self) -> None:
        """Remember the answer when it is better."""
        cost = int(self.hiding.costs[self.hidden & ~self.fixed].sum())
        if self.best is None or cost < self.best[0]:
            self.best = cost, self.hidden.copy(), [need.moves for need in self.needs]

    def _try(self, chosen: Booleans) -> None:
        """Make an answer from what a program chose."""
        self.hidden = chosen.copy()
        if all(self._protect_within(need, self.hidden) or self._protect(need) for need in self.needs):
            self._ask_contributors()
            self._publish_again()
            self._ask_contributors()
            self._keep()
