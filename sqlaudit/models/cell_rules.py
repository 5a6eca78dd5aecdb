"""Rules for the cells of published tables: by contributors, by the largest contributions, and by margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.models.base import Model, Parameter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bools = npt.NDArray[np.bool_]

# Rules for the cells of published tables: which cell says too much of the few who are behind it.
#
# Definitions are those of the Handbook on Statistical Disclosure Control (Hundepool and others). A rule looks at whole
# numbers and decides exactly; a cell at its limit is safe.

HANDBOOK = "Hundepool et al., Handbook on Statistical Disclosure Control; Statistical Disclosure Control, Wiley 2012"


class CellNumbers(Protocol):
    """One whole number for each cell, and where it is known."""

    @property
    def units(self) -> npt.NDArray[Any]:
        """The numbers."""

    @property
    def known(self) -> Bools:
        """True where they are known."""


class CellFacts(Protocol):
    """What is known of cells; a rule that lacks something says what."""

    def __len__(self) -> int:
        """Return the number of cells."""

    @property
    def names(self) -> Sequence[str]:
        """The dimensions that the cells are broken down by."""

    @property
    def hidden(self) -> Bools:
        """Cells that are not published."""

    @property
    def contributors(self) -> CellNumbers | None:
        """The number of people who contribute to each cell."""

    @property
    def value(self) -> CellNumbers | None:
        """The sum of their contributions."""

    @property
    def holdings(self) -> CellNumbers | None:
        """The number of holdings that these belong to."""

    @property
    def structural(self) -> Bools | None:
        """Cells in which no one can be."""

    @property
    def broken_down(self) -> npt.NDArray[Any]:
        """The number of dimensions that each cell is broken down by: those in which it is not the total of
        everything."""

    @property
    def volume(self) -> CellNumbers | None:
        """The least sum of the sizes of contributions, where some are negative; None where it is the value."""

    def top(self, number: int) -> CellNumbers | None:
        """Return the sum of this number of largest contributions; None when the contributions are not available."""

    def margin(self, dimension: int) -> tuple[npt.NDArray[Any], Bools]:
        """Return the contributors of the next larger cell in a dimension, and where they are known."""


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
    arguments: Mapping[str, object]


class CellRule(Model):
    """Base of the rules of cells; `registry.py` has them all."""

    needs_sensitive: ClassVar[bool] = False

    of_changes: ClassVar[bool] = True
    """Whether it has a meaning for what changed between two releases of a table."""
    of_hidden: ClassVar[bool] = False
    """Whether it judges hidden cells by their limits, and says nothing of others."""
    of_margins: ClassVar[bool] = False
    """Whether it compares cells with their margins."""

    @property
    def contributions(self) -> int:
        """The number of largest contributions of a cell that the rule reads."""
        return 0

    @property
    def width(self) -> Fraction:
        """The least distance of the limits of a hidden cell; 0 where the rule does not judge hidden cells."""
        return Fraction(0)

    def single_select(self) -> Alone | None:
        """Return the rule as part of one SELECT; None when a cell alone does not decide it."""
        return None

    def of_block(self, measures: Sequence[str], known: int) -> list[tuple[Alone, str]]:
        """Return when a block of a cube fails the rule: the rule as SQL, over each of the numbers that it judges.

        Args:
            measures: names of the sums of the block.
            known: contributors whose values an attacker may know.

        Returns:
            With each rule the ending of the names of its columns: empty for the people of the block, else `_` and the
            position of the measure.

        Raises:
            UsageError: the rule looks at more than a block, or at sums and there are none.
        """
        single = self.single_select()
        if single is None:
            raise UsageError(
                f"{self.name} looks at more than one cell here: at totals, hidden cells or numbers of dimensions. The "
                "blocks of a cube are judged one by one. Leave that out."
            )
        if self.contributions and not measures:
            raise UsageError(f"{self.name} needs a measure. Name it with {spelled('measures')}.")
        ends = [f"_{place}" for place in range(len(measures))]
        return [(single, end) for end in (ends if self.contributions else ["", *ends])]

    def level(self, cells: CellFacts) -> tuple[npt.NDArray[Any], Bools] | None:
        """Return how far the limits of an unsafe cell are at least from its value, and where that is known; None
        without one.

        The Handbook's protection levels: a contributor who knows their own contribution, and takes the upper limit of a
        cell for its value, must not learn more of another's than the rule allows.
        """
        return None

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """Return the verdict on every cell."""
        raise NotImplementedError(self.name)

    def _undecided(self, cells: CellFacts, missing: str) -> Verdicts:
        import numpy as np

        nothing = np.zeros(len(cells), dtype=np.bool_)
        return Verdicts(nothing, nothing, missing)


class FewContributors(CellRule):
    """A minimum number of contributors."""

    name: ClassVar[str] = "threshold"
    title: ClassVar[str] = "threshold rule"
    definition: ClassVar[str] = (
        "Every cell has at least n contributors, or none. With zeros:yes, a cell without contributors fails, too; with "
        "dimensions:2, the rule is for cells that are broken down by at least two dimensions."
    )
    reference: ClassVar[str] = HANDBOOK
    parameters: ClassVar = (
        Parameter("n", "integer", "smallest number of contributors", 1),
        Parameter("zeros", "text", "yes or no: cells without contributors fail", default="no"),
        Parameter(
            "dimensions", "integer", "only for cells that are broken down by so many dimensions, or more", 0, default=0
        ),
    )
    short_forms: ClassVar[tuple[str, ...]] = ("min_contributors",)

    def prepare(self) -> None:
        """Raise UsageError unless zeros is yes or no."""
        if self.values["zeros"] not in ("yes", "no"):
            raise UsageError(f"threshold: zeros is yes or no, not {str(self.values['zeros'])[:20]!r}.")

    @property
    def fewest(self) -> int | None:
        """n contributors."""
        return int(self.values["n"])

    def single_select(self) -> Alone | None:
        """Return the SQL rule for cells with fewer than n contributors; None where totals must be known."""
        if self.values["dimensions"]:
            return None
        return Alone("few_contributors", ("n",), {"n": self.values["n"], "zeros": self.values["zeros"] == "yes"})

    def of_block(self, measures: Sequence[str], known: int) -> list[tuple[Alone, str]]:
        """Return the rule for the people of a block and for those with a value, beside those that are known."""
        more = int(self.values["n"]) + known
        calls = super().of_block(measures, known)
        return [(Alone(rule.macro, rule.columns, {**rule.arguments, "n": more}), end) for rule, end in calls]

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """Find cells with fewer than n contributors."""
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
        if self.values["dimensions"]:
            unsafe &= cells.broken_down >= self.values["dimensions"]
        return Verdicts((unsafe & found.known).astype(bool), found.known)


class Holdings(CellRule):
    """A minimum number of second contributors."""

    name: ClassVar[str] = "holdings"
    title: ClassVar[str] = "minimum number of holdings"
    definition: ClassVar = (
        "The contributors of every cell belong to at least n holdings (households, groups of firms), or there are none."
    )
    reference: ClassVar[str] = HANDBOOK + "; tau-Argus"
    parameters: ClassVar = (Parameter("n", "integer", "fewest holdings of a cell", 1),)
    of_changes: ClassVar[bool] = False

    def single_select(self) -> Alone:
        """Return the SQL rule for cells with fewer than n second contributors."""
        return Alone("few_holdings", ("h",), {"n": self.values["n"]})

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """Find cells with fewer than n second contributors."""
        found = cells.holdings
        if found is None:
            return self._undecided(cells, f"the numbers of holdings: name their column with {spelled('holdings')}")
        unsafe = (found.units < self.values["n"]) & (found.units != 0) & found.known
        return Verdicts(unsafe.astype(bool), found.known)


# Rules for the cells of published tables that look at the largest contributions to their sums.


class _Contributions(CellRule):
    """Base of the rules that look at the largest contributions."""

    reference: ClassVar[str] = HANDBOOK

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """Judge cells by their largest contributions; without these, only cells whose few contributors leave no
        doubt."""
        if cells.value is None:
            where = f"name their column with {spelled('value')}"
            return self._undecided(cells, f"the sums of contributions, which the table does not have: {where}")
        found = self._largest(cells)
        if found is None:
            return self._by_number(cells, cells.value)
        top, known = found
        volume = cells.volume or cells.value
        return Verdicts(self._falls_short(volume.units, top).astype(bool) & known, known)

    def level(self, cells: CellFacts) -> tuple[npt.NDArray[Any], Bools] | None:
        """Return the levels by the largest contributions: at that distance the rule permits publication of the cell."""
        found = self._largest(cells)
        if cells.value is None or found is None:
            return None
        return self._level(cells.value.units, found[0]), found[1]

    def _largest(self, cells: CellFacts) -> tuple[list[npt.NDArray[Any]], Bools] | None:
        """Return what the 1, 2, … largest contributors have together, and where that and the value are known."""
        top = [one for number in range(1, self.contributions + 1) if (one := cells.top(number))]
        if cells.value is None or len(top) < self.contributions:
            return None
        known = (cells.volume or cells.value).known
        for one in top:
            known = known & one.known
        return [one.units for one in top], known

    def _level(self, value: npt.NDArray[Any], top: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the level of each cell, rounded up; not above zero where the cell is safe."""
        raise NotImplementedError(self.name)

    def _by_number(self, cells: CellFacts, value: CellNumbers) -> Verdicts:
        """Judge cells by their number of contributors: if the rule reads all of them, they are the whole cell."""
        known = value.known & (value.units == 0)
        unsafe = known & False
        if cells.contributors is not None and self._few_fall_short:
            few = cells.contributors.known & (cells.contributors.units <= self.contributions)
            unsafe = few & value.known & (value.units != 0)
        named = {1: "the largest contribution", 2: "the two largest contributions"}
        what = named.get(self.contributions, f"the {self.contributions} largest contributions")
        missing = (
            f"{what} of a cell, which the table does not have: name their columns with {spelled('largest')}, or "
            "check the rows from which the table was made"
        )
        return Verdicts(unsafe.astype(bool), (known | unsafe).astype(bool), missing)

    @property
    def _few_fall_short(self) -> bool:
        """Return True if a cell fails that has no more contributors than the rule looks at."""
        return True

    def _falls_short(self, value: npt.NDArray[Any], top: Sequence[npt.NDArray[Any]]) -> Bools:
        """Return the cells that fail, by their value and the sums of their 1, 2, … largest contributions."""
        raise NotImplementedError(self.name)


class Dominance(_Contributions):
    """Few contributors have most of a cell."""

    name: ClassVar[str] = "dominance"
    title: ClassVar[str] = "(n,k)-dominance rule"
    definition: ClassVar[str] = "The n largest contributions of every cell add up to at most k percent of it."
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("n", "integer", "number of contributors", 1, 20, default=1),
        Parameter("k", "decimal", "largest share allowed, in percent", 0, 100),
    )
    main: ClassVar[str] = "k"

    @property
    def contributions(self) -> int:
        """The number n."""
        return int(self.values["n"])

    def single_select(self) -> Alone:
        """Return the SQL rule for cells in which the largest have more than k percent."""
        k, n = Fraction(self.values["k"]), self.contributions
        given = {"n": n, "numerator": k.numerator, "denominator": k.denominator}
        return Alone("dominated", ("x", *(f"x{place}" for place in range(1, n + 1))), given)

    @property
    def _few_fall_short(self) -> bool:
        return Fraction(self.values["k"]) < 100

    def _falls_short(self, value: npt.NDArray[Any], top: Sequence[npt.NDArray[Any]]) -> Bools:
        from sqlaudit.base.whole_arrays import times  # every audit loads the registry, and few judge cells

        k = Fraction(self.values["k"])
        found: Bools = times(top[-1], 100 * k.denominator) > times(value, k.numerator)
        return found

    def _level(self, value: npt.NDArray[Any], top: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return 100/k of the sum of the n largest, less the cell."""
        from sqlaudit.base.whole_arrays import minus, times

        k = Fraction(self.values["k"])
        if not k:
            raise UsageError(
                "dominance: contributors always have more than 0 percent of a hidden cell. Choose a larger k."
            )
        level: npt.NDArray[Any] = minus(-(times(top[-1], -100 * k.denominator) // k.numerator), value)
        return level


class _Estimate(_Contributions):
    """Base of the rules on how closely the second largest contributor can estimate the largest."""

    operator: ClassVar[str] = ">="

    @property
    def contributions(self) -> int:
        """Two: the largest and the second largest."""
        return 2

    @property
    def share(self) -> Fraction:
        """Return what all others must have together, as a share of the largest contribution."""
        raise NotImplementedError(self.name)

    def single_select(self) -> Alone:
        """Return the SQL rule for cells in which the others have less than that share."""
        share = self.share
        return Alone("estimated", ("x", "x1", "x2"), {"numerator": share.numerator, "denominator": share.denominator})

    @property
    def _few_fall_short(self) -> bool:
        return self.share > 0

    def _falls_short(self, value: npt.NDArray[Any], top: Sequence[npt.NDArray[Any]]) -> Bools:
        from sqlaudit.base.whole_arrays import minus, times

        rest = times(minus(value, top[1]), self.share.denominator)
        found: Bools = rest < times(top[0], self.share.numerator)
        return found

    def _level(self, value: npt.NDArray[Any], top: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return that share of the largest contribution, less the contributions of all but the two largest."""
        from sqlaudit.base.whole_arrays import minus, times

        wanted = -(times(top[0], -self.share.numerator) // self.share.denominator)
        level: npt.NDArray[Any] = minus(wanted, minus(value, top[1]))
        return level


class PPercent(_Estimate):
    """How closely the second largest contributor can estimate the largest."""

    name: ClassVar[str] = "p_percent"
    title: ClassVar[str] = "p% rule"
    definition: ClassVar = (
        "In every cell all contributions but the two largest add up to at least p percent of the largest, so that "
        "the second largest contributor cannot estimate it more closely."
    )
    parameters: ClassVar = (Parameter("p", "decimal", "closest estimate allowed, in percent", 0, 1000),)

    @property
    def share(self) -> Fraction:
        """The share p/100."""
        return Fraction(self.values["p"]) / 100


class PQ(_Estimate):
    """The same, for an attacker who knows something beforehand."""

    name: ClassVar[str] = "pq"
    title: ClassVar[str] = "pq rule"
    definition: ClassVar = (
        "As p%, for an attacker who can estimate every contribution to q percent without the table: all "
        "but the two largest have together at least p/q of the largest contribution."
    )
    parameters: ClassVar = (
        Parameter("p", "decimal", "closest estimate allowed, in percent", 0, 100),
        Parameter("q", "decimal", "precision of estimates without the table, in percent", 0, 100, default=100),
    )

    def prepare(self) -> None:
        """Raise UsageError unless p is below q."""
        p, q = Fraction(self.values["p"]), Fraction(self.values["q"])
        if p >= q:
            raise UsageError(f"pq: p is below q; they are {float(p):g} and {float(q):g}.")

    @property
    def share(self) -> Fraction:
        """The share p/q."""
        return Fraction(self.values["p"]) / Fraction(self.values["q"])


# Rules for the cells of published tables that look at their margins, and at what these tell of hidden cells.

ANY = "any"


class _Margins(CellRule):
    """Base of the rules that look at the margin of a cell in one dimension, or in any."""

    reference: ClassVar[str] = HANDBOOK
    main: ClassVar[str] = "dimension"
    of_changes: ClassVar[bool] = False
    of_margins: ClassVar[bool] = True

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """Judge cells by the numbers of contributors, in the dimension or in each."""
        if cells.contributors is None:
            where = f"name their column with {spelled('count')} or {spelled('contributors')}"
            return self._undecided(cells, f"the numbers of contributors: {where}")
        return self._of(cells, cells.contributors)

    def _of(self, cells: CellFacts, found: CellNumbers) -> Verdicts:
        """Return the verdict on every cell by its contributors and margins."""
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
    definition: ClassVar = (
        "No cell has as many contributors as its margin in a dimension. Otherwise everyone in the group has that "
        "property, however many they are."
    )
    parameters: ClassVar = (Parameter("dimension", "text", f"the dimension that is a property of people, or {ANY}"),)

    def of_block(self, measures: Sequence[str], known: int) -> list[tuple[Alone, str]]:
        """Return the rule for the measures that it names: all but those who are known have the same value."""
        name = str(self.values["dimension"])
        if name not in (ANY, *measures) or not measures:
            listed = f"Its measures are: {', '.join(measures)}." if measures else "It has none."
            raise UsageError(f"{self.name} names a measure of the cube, or {ANY}, and not {name!r}. {listed}")
        uniform = Alone("uniform", ("n", "same"), {"known": known})
        return [(uniform, f"_{place}") for place, measure in enumerate(measures) if name in (ANY, measure)]

    def _of(self, cells: CellFacts, found: CellNumbers) -> Verdicts:
        """Find cells with as many contributors as the margin in one of the dimensions."""
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
    definition: ClassVar = (
        "Cells without contributors are structural (no one can be in them). Any other empty cell reveals that no one "
        "in its margin is in it."
    )
    parameters: ClassVar = (Parameter("dimension", "text", f"the dimension whose margin must not be empty, or {ANY}"),)

    def _of(self, cells: CellFacts, found: CellNumbers) -> Verdicts:
        """Find cells without contributors that could have some."""
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
    title: ClassVar[str] = "no hidden cell that totals reveal"
    definition: ClassVar = (
        "The least and the largest value that published cells and totals together leave a hidden cell are at least "
        "width apart, so that no one can compute it exactly or closely."
    )
    reference: ClassVar[str] = HANDBOOK + ", section 4.2; Fischetti and Salazar-González, JASA 2001"
    parameters: ClassVar = (
        Parameter("width", "decimal", "smallest distance between the two limits of a hidden cell", 0),
    )

    of_changes: ClassVar[bool] = False
    of_hidden: ClassVar[bool] = True

    @property
    def width(self) -> Fraction:
        """The parameter width."""
        return Fraction(self.values["width"])

    def prepare(self) -> None:
        """Raise UsageError unless width is above 0: limits that may be equal are no protection."""
        if not self.width:
            raise UsageError(
                f"{self.name}: width must be more than 0; 1 requires that no hidden count is known exactly."
            )
