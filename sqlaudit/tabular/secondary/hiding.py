"""What protecting a table asks, and what it answers: which cells are hidden, how far each has to be open."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sqlaudit.tabular.secondary.intervals import CellVerdicts, Deduced, Protection
from sqlaudit.tabular.secondary.structure import Booleans, Equations, Integers
from sqlaudit.tabular.secondary.system import FREE, PublishedTable


@dataclass(frozen=True)
class Hiding:
    """What has to be protected, and what hiding costs.

    Args:
        equations: between cells. values: the true values. sensitive: cells that are hidden first.
        protection: how far these must be open. costs: of hiding each cell, whole numbers, 0 = hidden anyway.
        lower, upper: what everybody knows of cells beforehand. whole: values are whole units.
        alone: cells with one contributor, who knows the value: others must be open to them, too.
        keys: the codes of every cell, by which large tables are searched for cubes; None = by programs alone.
    """

    equations: Equations
    values: Integers
    sensitive: Booleans
    protection: Protection
    costs: Integers
    lower: Integers
    upper: Integers
    whole: bool = True
    alone: Booleans | None = None
    keys: Integers | None = None

    @property
    def down(self) -> Integers:
        """How far each cell can fall."""
        return np.where(self.lower <= -FREE, FREE, self.values - self.lower)

    @property
    def up(self) -> Integers:
        """How far each cell can rise."""
        return np.where(self.upper >= FREE, FREE, self.upper - self.values)

    def published(self, hidden: Booleans) -> PublishedTable:
        """The table as an attacker sees it."""
        return PublishedTable(
            self.equations, np.where(hidden, 0, self.values), hidden, self.lower, self.upper, self.whole
        )


@dataclass(frozen=True)
class Protected:
    """Cells to hide.

    Args:
        hidden: all of them, the sensitive ones, too. cost: of the others. bound: no answer costs less, as far as is
            proven. open: sensitive cells that nothing protects, however much is hidden.
        deduced, verdicts: what an attacker deduces of the answer, audited again. stopped: `time` or `interrupted` when
            the search ended early, else empty.
    """

    hidden: Booleans
    cost: int
    bound: int
    open: Integers
    deduced: Deduced
    verdicts: CellVerdicts
    stopped: str = ""

    @property
    def safe(self) -> bool:
        """Whether every hidden cell is proven to be open enough."""
        return not (self.verdicts.unsafe | self.verdicts.undecided).any()


@dataclass
class Need:
    """How far one sensitive cell must move, and the moves that show that it does, with another cell known or not."""

    cell: int
    above: int
    below: int
    sliding: int
    known: int | None = None
    moves: list[Integers] = field(default_factory=list)

    def movable(self, hidden: Booleans) -> Booleans:
        """The hidden cells that may move."""
        found = hidden.copy()
        if self.known is not None:
            found[self.known] = False
        return found

    def ways(self, up: int, down: int) -> list[list[int]]:
        """Amounts to move by that fulfil the need together, the first that works is taken."""
        rest = max(0, self.sliding - self.above - self.below)
        fixed = [self.above, -self.below]
        lower = min(down, self.below + rest)
        ways = [[self.above + rest, -self.below], [self.above + rest - (lower - self.below), -lower]]
        found = ways if rest else [fixed]
        return [[amount for amount in way if amount] for way in found if -way[1] <= down and way[0] <= up]


def needs_of(hiding: Hiding) -> list[Need]:
    """How far each sensitive cell must move, as far as its limits let it."""
    asked = hiding.protection
    needs = []
    for cell in np.flatnonzero(hiding.sensitive).tolist():
        up, down = int(hiding.up[cell]), int(hiding.down[cell])
        above = min(up, int(asked.above[cell])) if asked.above is not None else 0
        below = min(down, int(asked.below[cell])) if asked.below is not None else 0
        needs.append(Need(cell, above, below, min(up + down, int(asked.sliding[cell]))))
    return needs
