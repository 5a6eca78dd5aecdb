"""Rules for the cells of published tables that look at the largest contributions to their sums."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled
from sqlaudit.models.base import Parameter
from sqlaudit.models.cell_rules import HANDBOOK, Alone, CellFacts, CellNumbers, CellRule, Verdicts

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlaudit.models.cell_rules import Bools


class _Contributions(CellRule):
    """Base of the rules that look at the largest contributions."""

    reference: ClassVar[str] = HANDBOOK

    def verdicts(self, cells: CellFacts) -> Verdicts:
        """By the largest contributions; without them, what few contributors leave no doubt about."""
        if cells.value is None:
            where = f"name their column with {spelled('value')}"
            return self._undecided(cells, f"the sums of contributions, which the table does not have: {where}")
        top = [cells.top(number) for number in range(1, self.contributions + 1)]
        if not all(top):
            return self._by_number(cells, cells.value)
        known = cells.value.known
        for one in top:
            known = known & one.known if one else known
        unsafe = self._falls_short(cells.value.units, [one.units for one in top if one])
        return Verdicts(unsafe.astype(bool) & known, known)

    def level(self, cells: CellFacts) -> tuple[npt.NDArray[Any], Bools] | None:
        """By the largest contributions: at that distance the rule would let the cell be published."""
        top = [cells.top(number) for number in range(1, self.contributions + 1)]
        if cells.value is None or not all(top):
            return None
        known = cells.value.known
        for one in top:
            known = known & one.known if one else known
        return self._level(cells.value.units, [one.units for one in top if one]), known

    def _level(self, value: npt.NDArray[Any], top: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """The level of each cell, rounded up; not above zero where the cell is safe."""
        raise NotImplementedError(self.name)

    def _by_number(self, cells: CellFacts, value: CellNumbers) -> Verdicts:
        """Where there are no more contributors than the rule looks at, they are the whole cell."""
        known = value.known & (value.units == 0)
        unsafe = known & False
        if cells.contributors is not None and self._few_fall_short:
            few = cells.contributors.known & (cells.contributors.units <= self.contributions)
            unsafe = few & value.known & (value.units > 0)
        named = {1: "the largest contribution", 2: "the two largest contributions"}
        what = named.get(self.contributions, f"the {self.contributions} largest contributions")
        missing = (
            f"{what} of a cell, which the table does not have: name their columns with {spelled('largest')}, "
            "or judge the rows that the table was made from"
        )
        return Verdicts(unsafe.astype(bool), (known | unsafe).astype(bool), missing)

    @property
    def _few_fall_short(self) -> bool:
        """Whether a cell falls short that has no more contributors than the rule looks at."""
        return True

    def _falls_short(self, value: npt.NDArray[Any], top: Sequence[npt.NDArray[Any]]) -> Bools:
        """Cells that fall short, by their value and by what the 1, 2, … largest contributors have together."""
        raise NotImplementedError(self.name)


class Dominance(_Contributions):
    """Few contributors have most of a cell."""

    name: ClassVar[str] = "dominance"
    title: ClassVar[str] = "(n,k)-dominance rule"
    definition: ClassVar[str] = "The n largest contributions of every cell are together at most k percent of it."
    operator: ClassVar[str] = "<="
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("n", "integer", "how many contributors", Fraction(1), Fraction(20), default=1),
        Parameter("k", "decimal", "largest share that they may have, in percent", Fraction(0), Fraction(100)),
    )
    main: ClassVar[str] = "k"

    @property
    def contributions(self) -> int:
        """n."""
        return int(self.values["n"])

    def alone(self) -> Alone:
        """More than k percent."""
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
        """100/k of the n largest together, less the cell."""
        from sqlaudit.base.whole_arrays import minus, times

        k = Fraction(self.values["k"])
        if not k:
            raise UsageError("dominance: no value of a hidden cell lets contributors have 0 percent; take a larger k.")
        level: npt.NDArray[Any] = minus(-(times(top[-1], -100 * k.denominator) // k.numerator), value)
        return level


class _Estimate(_Contributions):
    """Base of the rules on how closely the second largest contributor can estimate the largest."""

    operator: ClassVar[str] = ">="

    @property
    def contributions(self) -> int:
        """The largest and the second largest."""
        return 2

    @property
    def share(self) -> Fraction:
        """What all others must have together, as a share of the largest contribution."""
        raise NotImplementedError(self.name)

    def alone(self) -> Alone:
        """The others have less than that share."""
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
        """That share of the largest contribution, less what all but the two largest have."""
        from sqlaudit.base.whole_arrays import minus, times

        wanted = -(times(top[0], -self.share.numerator) // self.share.denominator)
        level: npt.NDArray[Any] = minus(wanted, minus(value, top[1]))
        return level


class PPercent(_Estimate):
    """How closely the second largest contributor can estimate the largest."""

    name: ClassVar[str] = "p_percent"
    title: ClassVar[str] = "p% rule"
    definition: ClassVar[str] = (
        "In every cell all but the two largest contributors have together at least p percent of the largest "
        "contribution, so that the second largest cannot estimate it more closely."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("p", "decimal", "how close an estimate must not be, in percent", Fraction(0), Fraction(1000)),
    )
    main: ClassVar[str] = "p"

    @property
    def share(self) -> Fraction:
        """p/100."""
        return Fraction(self.values["p"]) / 100


class PQ(_Estimate):
    """The same, for an attacker who knows something beforehand."""

    name: ClassVar[str] = "pq"
    title: ClassVar[str] = "pq rule"
    definition: ClassVar[str] = (
        "As p%, for an attacker who could estimate every contribution to q percent before the table was published: all "
        "but the two largest have together at least p/q of the largest contribution."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("p", "decimal", "how close an estimate must not be, in percent", Fraction(0), Fraction(100)),
        Parameter(
            "q", "decimal", "how close estimates were before, in percent", Fraction(0), Fraction(100), default=100
        ),
    )
    main: ClassVar[str] = "p"

    def prepare(self) -> None:
        """p is below q."""
        p, q = Fraction(self.values["p"]), Fraction(self.values["q"])
        if p >= q:
            raise UsageError(f"pq: p is below q; they are {float(p):g} and {float(q):g}.")

    @property
    def share(self) -> Fraction:
        """p/q."""
        return Fraction(self.values["p"]) / Fraction(self.values["q"])
