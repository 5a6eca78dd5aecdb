"""Rules for the cells of published tables: which cell says too much of the few who are behind it.

Definitions are those of the Handbook on Statistical Disclosure Control (Hundepool and others). A rule looks at whole
numbers and decides exactly; a cell at its limit is safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.words import spelled
from sqlaudit.models.base import Model, Parameter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bools = npt.NDArray[np.bool_]

HANDBOOK = "Hundepool et al., Handbook on Statistical Disclosure Control; Statistical Disclosure Control, Wiley 2012"


class CellNumbers(Protocol):
    """One whole number for each cell, and where it is known."""

    @property
    def units(self) -> npt.NDArray[Any]:
        """The numbers."""

    @property
    def known(self) -> Bools:
        """Where they are known."""


class CellFacts(Protocol):
    """What is known of cells; a rule that lacks something says what."""

    def __len__(self) -> int:
        """How many cells there are."""

    @property
    def names(self) -> Sequence[str]:
        """What the cells are broken down by."""

    @property
    def hidden(self) -> Bools:
        """Cells that are not published."""

    @property
    def contributors(self) -> CellNumbers | None:
        """How many persons are behind each."""

    @property
    def value(self) -> CellNumbers | None:
        """The sum of their contributions."""

    @property
    def holdings(self) -> CellNumbers | None:
        """How many holdings these belong to."""

    @property
    def structural(self) -> Bools | None:
        """Cells in which nobody can be."""

    def pinned(self, width: Fraction) -> tuple[Bools, Bools, str]:
        """Hidden cells that published ones leave less than a width, where that is decided, and what was missing."""

    def top(self, number: int) -> CellNumbers | None:
        """What the so many largest contributors have together; None when the contributions are not at hand."""

    def margin(self, dimension: int) -> tuple[npt.NDArray[Any], Bools]:
        """The contributors of the next larger cell in a dimension, and where they are known."""


@dataclass(frozen=True)
class Verdicts:
    """What a rule says of each cell: whether it is unsafe, and whether that could be decided; and what was missing."""

    unsafe: Bools
    judged: Bools
    missing: str = ""


@dataclass(frozen=True)
class Alone:
    """A rule as SQL over one cell.

    Args:
        macro: of `models/_cell_rules.sql`. columns: what of a cell it reads. arguments: of the macro.
    """

    macro: str
    columns: tuple[str, ...]
    arguments: Mapping[str, Any]


class CellRule(Model):
    """Base of the rules of cells; `registry.py` has them all."""

    of_cells: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = False
    by_default: ClassVar[bool] = False

    of_changes: ClassVar[bool] = True
    """Whether it has a meaning for what changed between two releases of a table."""
    of_hidden: ClassVar[bool] = False
    """Whether it judges hidden cells, too."""
    of_margins: ClassVar[bool] = False
    """Whether it compares cells with their margins."""

    @property
    def contributions(self) -> int:
        """How many of the largest contributions of a cell it looks at."""
        return 0

    def alone(self) -> Alone | None:
        """The rule where one SELECT has to say it; None when a cell alone does not tell."""
        return None

    def level(self, cells: CellFacts) -> tuple[npt.NDArray[Any], Bools] | None:
        """How far from its value the limits of an unsafe cell are at least, and where that is known; None without one.

        The Handbook's protection levels: whoever knows their own contribution, and takes the upper limit of a cell for
        its value, must not learn more of another's than the rule lets them.
        """
        return None

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """The verdict on every cell."""
        raise NotImplementedError(self.name)

    def _undecided(self, cells: CellFacts, missing: str) -> Verdicts:
        import numpy as np

        nothing = np.zeros(len(cells), dtype=np.bool_)
        return Verdicts(nothing, nothing, missing)


class FewContributors(CellRule):
    """A minimum number of contributors."""

    name: ClassVar[str] = "threshold"
    title: ClassVar[str] = "threshold rule"
    definition: ClassVar[str] = "Every cell has at least n contributors or none; zeros:yes = none is too few."
    reference: ClassVar[str] = HANDBOOK
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("n", "integer", "fewest contributors of a cell", Fraction(1)),
        Parameter("zeros", "text", "whether cells without any fail, yes or no", default="no"),
    )
    main: ClassVar[str] = "n"
    short_forms: ClassVar[tuple[str, ...]] = ("min_contributors",)

    def prepare(self) -> None:
        """zeros is yes or no."""
        if self.values["zeros"] not in ("yes", "no"):
            raise UsageError(f"threshold: zeros is yes or no, not {str(self.values['zeros'])[:20]!r}.")

    def alone(self) -> Alone:
        """Fewer than n."""
        return Alone("few_contributors", ("n",), {"n": self.values["n"], "zeros": self.values["zeros"] == "yes"})

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """Fewer than n."""
        found = cells.contributors
        if found is None:
            return self._undecided(
                cells,
                "the numbers of contributors, which the table does not have: name their column with "
                f"{spelled('count')} or {spelled('contributors')}",
            )
        unsafe = found.units < self.values["n"]
        if self.values["zeros"] == "no":
            unsafe &= found.units != 0
        return Verdicts((unsafe & found.known).astype(bool), found.known)


class Holdings(CellRule):
    """A minimum number of second contributors."""

    name: ClassVar[str] = "holdings"
    title: ClassVar[str] = "minimum number of holdings"
    definition: ClassVar[str] = (
        "The contributors of every cell belong to at least n holdings (households, groups of firms), or there are none."
    )
    reference: ClassVar[str] = HANDBOOK + "; tau-Argus"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("n", "integer", "fewest holdings of a cell", Fraction(1)),)
    main: ClassVar[str] = "n"
    of_changes: ClassVar[bool] = False

    def alone(self) -> Alone:
        """Fewer than n."""
        return Alone("few_holdings", ("h",), {"n": self.values["n"]})

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """Fewer than n."""
        found = cells.holdings
        if found is None:
            return self._undecided(cells, f"the numbers of holdings: name their column with {spelled('holdings')}")
        unsafe = (found.units < self.values["n"]) & (found.units != 0) & found.known
        return Verdicts(unsafe.astype(bool), found.known)
