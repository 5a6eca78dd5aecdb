"""Rules for the cells of published tables that look at their margins, and at what these tell of hidden cells."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled
from sqlaudit.models.base import Parameter
from sqlaudit.models.cell_rules import HANDBOOK, CellFacts, CellNumbers, CellRule, Verdicts

ANY = "any"


class _Margins(CellRule):
    """Base of the rules that look at the margin of a cell in one dimension, or in any."""

    reference: ClassVar[str] = HANDBOOK
    main: ClassVar[str] = "dimension"
    of_changes: ClassVar[bool] = False
    of_margins: ClassVar[bool] = True

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """By the numbers of contributors, in the dimension or in each."""
        if cells.contributors is None:
            where = f"name their column with {spelled('count')} or {spelled('contributors')}"
            return self._undecided(cells, f"the numbers of contributors: {where}")
        return self._of(cells, cells.contributors)

    def _of(self, cells: CellFacts, found: CellNumbers) -> Verdicts:
        """The verdict on every cell by its contributors and margins."""
        raise NotImplementedError(self.name)

    def _places(self, cells: CellFacts) -> Sequence[int]:
        wanted = str(self.values["dimension"])
        if wanted == ANY:
            return range(len(cells.names))
        if wanted not in cells.names:
            raise UsageError(f"{self.name}: {wanted!r} is not in {spelled('by')}: {', '.join(cells.names)}.")
        return [cells.names.index(wanted)]


class FullCell(_Margins):
    """Everybody in a group has the property."""

    name: ClassVar[str] = "full_cell"
    title: ClassVar[str] = "full cells"
    definition: ClassVar[str] = (
        "No cell has as many contributors as its margin in a dimension: otherwise everybody in the group has that "
        "property, however many they are."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("dimension", "text", f"the dimension that is a property of persons, or {ANY}"),
    )

    def _of(self, cells: CellFacts, found: CellNumbers) -> Verdicts:
        """As many as in the margin, in one of the dimensions."""
        import numpy as np

        unsafe, judged = np.zeros(len(cells), dtype=np.bool_), found.known.copy()
        for place in self._places(cells):
            margin, known = cells.margin(place)
            unsafe |= (known & found.known & (found.units > 0) & (found.units == margin)).astype(bool)
            judged &= known
        return Verdicts(unsafe, judged | unsafe, "margins, some of whose cells are hidden")


class ZeroStructural(_Margins):
    """Empty cells that could have had somebody."""

    name: ClassVar[str] = "zero_structural"
    title: ClassVar[str] = "zeros that are not structural"
    definition: ClassVar[str] = (
        "A cell without contributors is one in which nobody can be (structural); any other tells of everybody in its "
        "margin that they are not in it."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("dimension", "text", f"the dimension whose margin must have somebody, or {ANY}"),
    )

    def _of(self, cells: CellFacts, found: CellNumbers) -> Verdicts:
        """None, where there could be some."""
        import numpy as np

        empty = (found.known & (found.units == 0)).astype(bool)
        if cells.structural is not None:
            empty &= ~cells.structural
        tells = np.zeros(len(cells), dtype=np.bool_)
        for place in self._places(cells):
            margin, known = cells.margin(place)
            tells |= (~known | (margin > 0)).astype(bool)
        return Verdicts(empty & tells, found.known)


class NoUnpickableCell(CellRule):
    """Totals that give back what was hidden."""

    name: ClassVar[str] = "no_unpickable_cell"
    title: ClassVar[str] = "no hidden cell that totals give back"
    definition: ClassVar[str] = (
        "The least and the largest value that published cells and totals together leave a hidden cell are at least "
        "width apart, so that nobody can compute it, or nearly."
    )
    reference: ClassVar[str] = HANDBOOK + ", section 4.2; Fischetti and Salazar-González, JASA 2001"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("width", "decimal", "how far apart both limits of a hidden cell are at least", Fraction(0)),
    )
    main: ClassVar[str] = "width"

    def prepare(self) -> None:
        """Limits that may be equal are no protection."""
        if not Fraction(self.values["width"]):
            raise UsageError(f"{self.name}: width is more than 0; 1 asks that no hidden count is known.")

    of_changes: ClassVar[bool] = False
    of_hidden: ClassVar[bool] = True

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """Hidden cells with limits that are nearer."""
        return Verdicts(*cells.pinned(Fraction(self.values["width"])))
