"""Models that compare the sensitive values of a class with those of the whole table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.classes.facts import Fact, Level
from sqlaudit.models.base import ClassModel, Parameter, band, expression
from sqlaudit.models.diversity import DISTINCT

WIDE_N = Fact("wide_n", "wide_n")
LIFT = Fact("largest_lift", "largest_lift")
DROP = Fact("smallest_lift", "smallest_lift")
LI = "Li, Li, Venkatasubramanian: t-Closeness, ICDE 2007; TKDE 2010"
CAO = "Cao, Karras: Publishing Microdata with a Robust Privacy Guarantee, PVLDB 5(11), 2012"


class TCloseness(ClassModel):
    """The earth mover's distance of every class from the table is at most t; all values equally far apart."""

    name: ClassVar[str] = "t_closeness"
    title: ClassVar[str] = "t-closeness (equal distance)"
    definition: ClassVar[str] = (
        "In every class the shares of the sensitive values differ from those of the table by at most t: ½ Σ |p − P| "
        "≤ t."
    )
    reference: ClassVar[str] = LI
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("t", "decimal", "largest distance allowed", 0, 1),)
    short_forms: ClassVar = ("t",)
    inference: ClassVar[str] = "largest distance of a group from the table (t)"
    distance: ClassVar[str] = "equal_distance"

    def unit(self) -> int:
        """The fact over `unit · n · N` is the distance."""
        return 2

    def facts(self) -> tuple[Fact, ...]:
        """The distance as a whole number."""
        return (self.distance_fact(), WIDE_N)

    def distance_fact(self) -> Fact:
        """The fact that is `scale · n` times the distance."""
        return Fact(self.distance, self.distance, self.arguments())

    def measure(self) -> str:
        """SQL over facts: `scale · n` times the distance."""
        return self.distance_fact().name

    def scale(self) -> int:
        """unit · N; 1 for an empty table."""
        return max(1, self.unit() * self.table.total)

    def arguments(self) -> dict[str, object]:
        """Arguments of the distance's macro."""
        return {}

    def levels(self) -> dict[str, Level]:
        """The largest distance."""
        return {"t": Level("MAX", expression("distance", fact=self.measure(), scale=self.scale()))}

    def failing(self) -> str:
        """Further away than t; exact in integers."""
        return expression("distance_above", fact=self.measure(), scale=self.scale(), limit=Fraction(self.values["t"]))


class OrderedTCloseness(TCloseness):
    """t-closeness where values lie on a line: the distance of ranks."""

    name: ClassVar[str] = "t_closeness_ordered"
    title: ClassVar[str] = "t-closeness (ordered distance)"
    definition: ClassVar = (
        "Σ |cumulative p − cumulative P| / (M−1) ≤ t, over the ranks of the M distinct values of the table "
        "(or of a declared order), not their numeric gaps. 0 when M = 1."
    )
    short_forms: ClassVar = ("t_ordered",)
    needs_order: ClassVar[bool] = True
    distance: ClassVar[str] = "ordered_distance"

    def prepare(self) -> None:
        """NULL has no rank."""
        if self.table.has_null and "order" not in self.context.inputs:
            raise UsageError(
                f"{self.table.name} has NULLs, which have no rank. Leave them out with {spelled('where')}, or "
                "declare an order "
                f"that names NULL, before asking for {self.name}."
            )

    def unit(self) -> int:
        """M − 1, at least 1; declared values that the table does not hold count."""
        return max(1, len(self.arguments()["order"]) - 1)

    def arguments(self) -> dict[str, Any]:
        """The lanes in order of rank."""
        order = self.context.inputs.get("order")
        return {"order": list(order) if order is not None else list(range(self.table.distinct))}


class BasicBetaLikeness(ClassModel):
    """No value gains more than a factor beta in a class, relative to its share of the table."""

    name: ClassVar[str] = "basic_beta_likeness"
    title: ClassVar[str] = "basic β-likeness"
    definition: ClassVar[str] = (
        "No value is more frequent in a class than in the table by more than a factor of 1 + β: (p − P)/P ≤ β."
    )
    reference: ClassVar[str] = CAO
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("beta", "decimal", "largest relative gain allowed", 0),)
    short_forms: ClassVar = ("beta",)

    def facts(self) -> tuple[Fact, ...]:
        """The largest gain; and how many values exceed the limit, exactly."""
        return (LIFT, *self._above())

    def _above(self) -> tuple[Fact, ...]:
        beta = self.values["beta"]
        if beta is None:
            return ()
        arguments = {"numerator": beta.numerator, "denominator": beta.denominator}
        return (Fact(f"gains_above_{beta.numerator}_{beta.denominator}", "gains_above", arguments),)

    def levels(self) -> dict[str, Level]:
        """The largest relative gain."""
        return {"beta": Level("MAX", expression("gain", total=self.table.total))}

    def failing(self) -> str:
        """Some value gains more."""
        return expression("above", fact=self._above()[0].name, limit=0)


class EnhancedBetaLikeness(BasicBetaLikeness):
    """β-likeness where rare values may gain more, but no value more than −ln P."""

    name: ClassVar[str] = "enhanced_beta_likeness"
    title: ClassVar[str] = "enhanced β-likeness"
    definition: ClassVar[str] = "(p − P)/P ≤ min(β, −ln P), value by value; ∞ when some value exceeds −ln P."
    short_forms: ClassVar = ("enhanced_beta",)

    def facts(self) -> tuple[Fact, ...]:
        """As basic, and how many values exceed −ln P."""
        return (*super().facts(), Fact("gains_above_log", "gains_above_log"))

    def levels(self) -> dict[str, Level]:
        """The largest gain, ∞ when a value exceeds its own bound."""
        return {"beta": Level("MAX", expression("bounded_gain", total=self.table.total))}

    def failing(self) -> str:
        """Some value gains more than beta, or more than its own bound."""
        own = expression("above", fact="gains_above_log", limit=0)
        return expression("either", first=super().failing(), second=own)


class DeltaDisclosure(ClassModel):
    """Every value's share in a class is within a factor exp(delta) of its share of the table."""

    name: ClassVar[str] = "delta_disclosure_privacy"
    title: ClassVar[str] = "δ-disclosure privacy"
    definition: ClassVar[str] = "|ln(p/P)| < δ for every value of the table; a value absent from a class gives ∞."
    reference: ClassVar[str] = "Brickell, Shmatikov: The Cost of Privacy, KDD 2008"
    note: ClassVar[str] = (
        "“Values present only” leaves out values that a group lacks, as pycanon does. It cannot be required."
    )
    operator: ClassVar[str] = "<"
    parameters: ClassVar = (Parameter("delta", "decimal", "bound on |ln(p/P)|", 0),)
    short_forms: ClassVar = ("delta", "delta_disclosure")

    def facts(self) -> tuple[Fact, ...]:
        """Largest and smallest share against the table's, and how many values occur."""
        return (LIFT, DROP, DISTINCT)

    def levels(self) -> dict[str, Level]:
        """The largest |ln(p/P)|, with and without absent values."""
        table = self.table
        of_all = expression("log_ratio_of_all", total=table.total, values=table.distinct)
        return {
            "delta": Level("MAX", of_all),
            "delta_present": Level("MAX", expression("log_ratio", total=table.total)),
        }

    def failing(self) -> str:
        """A value is absent, or clearly too far."""
        high = band(float(self.values["delta"]))[1]
        return expression("log_ratio_above", total=self.table.total, values=self.table.distinct, limit=high)

    def doubtful(self) -> str:
        """Within float error of delta."""
        low, high = band(float(self.values["delta"]))
        table = self.table
        return expression("log_ratio_between", total=table.total, values=table.distinct, low=low, high=high)

    def holds(self, counts: Mapping[int, int]) -> bool:
        """|ln(p/P)| < δ in high precision; equality is impossible unless both sides are 0."""
        if len(counts) < self.table.distinct:
            return False
        n, total = sum(counts.values()), self.table.total
        ratios = [Fraction(c * total, n * self.table.totals[lane]) for lane, c in counts.items()]
        return all(_log_below(r, Fraction(self.values["delta"])) for r in ratios)


def _log_below(quotient: Fraction, limit: Fraction) -> bool:
    """|ln(quotient)| < limit."""
    if quotient == 1:
        return limit > 0
    with localcontext() as context:
        context.prec = 80
        value = abs((Decimal(quotient.numerator) / Decimal(quotient.denominator)).ln())
        return value < Decimal(limit.numerator) / Decimal(limit.denominator)


# t-closeness where values are leaves of a tree: the higher two values meet, the further apart they are.


class HierarchicalTCloseness(TCloseness):
    """t-closeness with the distance of a tree.

    Over a tree the earth mover's distance is a sum over its edges: each carries the difference of what lies below it,
    and is 1/(2 height) long. So it is one grouped difference a level.
    """

    name: ClassVar[str] = "t_closeness_hierarchical"
    title: ClassVar[str] = "t-closeness (hierarchical distance)"
    definition: ClassVar = (
        "Earth mover's distance of every class from the table ≤ t, where two values are as far apart as the height of "
        "their lowest common ancestor over the height of the tree; leaves are padded to one depth."
    )
    short_forms: ClassVar = ("t_hierarchical",)
    needs: ClassVar[tuple[str, ...]] = ("tree",)

    def unit(self) -> int:
        """Twice the tree's height."""
        return 2 * int(self.context.inputs["tree"].height)

    def _levels(self) -> list[tuple[Fact, int]]:
        """The facts of the levels, and how many levels group the values alike."""
        groupings = Counter(self.context.inputs["tree"].levels)
        found = []
        for position, (groups, times) in enumerate(groupings.items()):
            lanes = [list(group) for group in groups]
            fact = Fact(f"level_distance_{position}", "grouped_distance", {"groups": lanes})
            alone = all(len(group) == 1 for group in groups)  # as if there were no groups
            found.append((Fact("equal_distance", "equal_distance") if alone else fact, times))
        return found

    def facts(self) -> tuple[Fact, ...]:
        """The difference at every level."""
        return (*(fact for fact, _ in self._levels()), WIDE_N)

    def measure(self) -> str:
        """All levels added up."""
        return expression("weighted_sum", terms=[(fact.name, times) for fact, times in self._levels()])
