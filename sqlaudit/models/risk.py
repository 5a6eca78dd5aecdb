"""Re-identification risks that the sizes of classes decide, or a population table beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.failing import ClassSizes, KeyListing
from sqlaudit.models.base import Judgement, Parameter, Population, QueryModel, Question, SizeModel, expression
from sqlaudit.reports.document import plural

# Re-identification risks that the sizes of the classes decide (the table alone, no population).

EL_EMAM = "El Emam, Dankar: Protecting Privacy Using k-Anonymity, JAMIA 15(5), 2008; ARX risk analysis"


class AttackRisk(SizeModel):
    """Base of the risks of attackers who know that a person is in the table."""

    @classmethod
    def level_range(cls, classes: int, rows: int) -> tuple[float, float]:
        """Return at least classes / rows: the smallest class is no larger than classes are on average."""
        return classes / rows, math.inf


class ProsecutorRisk(AttackRisk):
    """The highest chance to re-identify someone who is known to be in the table."""

    name: ClassVar[str] = "prosecutor_risk"
    title: ClassVar[str] = "prosecutor risk (highest)"
    definition: ClassVar[str] = (
        "The highest risk of an attacker who knows that the person is in the table: 1/f in a class of f rows."
    )
    reference: ClassVar[str] = EL_EMAM
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("risk", "decimal", "highest risk allowed", 0, 1),)
    figure: ClassVar[str] = "highest_risk"
    inherited_with_limit: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """1 over the smallest class; rows in classes that are too small."""
        highest = Fraction(1, sizes.min_size) if sizes.min_size else None
        limit = self.values["risk"]
        if limit is None:
            return Judgement({"risk": highest})
        smallest = sizes.max_size + 1 if limit == 0 and sizes.max_size else math.ceil(1 / Fraction(limit or 1))
        return Judgement({"risk": highest}, *sizes.below(smallest))

    def failing(self) -> str:
        """1/f above the limit."""
        limit = Fraction(self.values["risk"])
        return expression("reciprocal_above", fact="size", limit=limit)


class AverageRisk(AttackRisk):
    """The mean risk over the rows."""

    name: ClassVar[str] = "average_risk"
    title: ClassVar[str] = "average risk (over rows)"
    definition: ClassVar[str] = (
        "The mean over all rows of 1/f, which is classes / rows (pycanon averages over classes)."
    )
    reference: ClassVar[str] = EL_EMAM
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("risk", "decimal", "highest average allowed", 0, 1),)
    figure: ClassVar[str] = "mean_risk"
    verdict_by_level: ClassVar[bool] = True

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """A figure of the whole table; no single class is to blame."""
        return Judgement({"risk": mean_risk(sizes)})


class RowsAtRisk(SizeModel):
    """The share of rows whose risk is above a threshold."""

    name: ClassVar[str] = "rows_at_risk"
    title: ClassVar[str] = "rows at risk"
    definition: ClassVar[str] = (
        "Share of rows with a risk 1/f above the threshold (default 0.2: classes smaller than 5)."
    )
    reference: ClassVar[str] = EL_EMAM
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("share", "decimal", "largest share of rows allowed", 0, 1),
        Parameter("threshold", "decimal", "risk above which a row counts", 0, 1, Fraction(1, 5)),
    )
    verdict_by_level: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """Rows whose class is smaller than 1/threshold."""
        threshold = Fraction(self.values["threshold"])
        small = [(s, c) for s, c in sizes.sizes if s * threshold < 1]
        rows = sum(c if sizes.per_row else s * c for s, c in small)
        share = Fraction(rows, sizes.members) if sizes.members else None
        return Judgement({"share": share}, sum(c for _, c in small), rows)

    def failing(self) -> str:
        """1/f above the threshold."""
        return expression("reciprocal_above", fact="size", limit=Fraction(self.values["threshold"]))


class Uniqueness(SizeModel):
    """The share of rows that are alone in their class."""

    name: ClassVar[str] = "sample_uniqueness"
    title: ClassVar[str] = "sample uniqueness"
    definition: ClassVar[str] = "Share of unique rows (classes with one member)."
    reference: ClassVar[str] = "Skinner, Elliot: A Measure of Disclosure Risk for Microdata, JRSS B 64(4), 2002"
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("share", "decimal", "largest share allowed", 0, 1),)
    verdict_by_level: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """Rows in classes of one."""
        classes, rows = sizes.below(2)
        return Judgement({"share": Fraction(rows, sizes.members) if sizes.members else None}, classes, rows)

    def failing(self) -> str:
        """Alone."""
        return expression("below", fact="size", limit=2)


def mean_risk(sizes: ClassSizes) -> Fraction | None:
    """The mean over rows of 1/f."""
    if not sizes.members:
        return None
    if sizes.per_row:
        return sum((Fraction(c, s) for s, c in sizes.sizes), Fraction(0)) / sizes.members
    return Fraction(sizes.count, sizes.members)


# Risks that a population table decides: from how many people a class of the table is a sample.

PEOPLE = ("people", "people_in_population")
PRESENCE = ("presence", "share_of_population")
"""What is told of a class: the column, and its label."""


@dataclass(frozen=True)
class PopulationSize:
    """All classes of one size in the population.

    Args:
        size: people in the population. classes: how many such classes. met: those that the table has members of.
        members, rows: members and rows of the table in them. fewest, most: members of the table in one class.
        failing, failing_rows: classes and rows of the table outside given limits.
    """

    size: int
    classes: int
    met: int
    members: int
    rows: int
    fewest: int
    most: int
    failing: int
    failing_rows: int


class PopulationModel(QueryModel):
    """Base of the risks against a population."""

    needs: ClassVar[tuple[str, ...]] = ("population",)
    needs_sensitive: ClassVar[bool] = False
    recipe: ClassVar[str] = "population"
    figures: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    """(name, fold, figure) of its levels in one SELECT; no fold = a figure of the whole table."""
    only_met: ClassVar[bool] = True
    """Whether classes that the table has no one of are left aside."""

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, object], inputs: Mapping[str, object]) -> str:
        """The population stands beside the table."""
        return "" if "population" in inputs else f"needs population; give it in a file with {spelled('inputs')}."

    def short_alone(self) -> tuple[str, dict[str, object]]:
        """The predicate of a class that fails in one SELECT, and what it takes; none = no class does."""
        return "", {}

    def sizes(self, question: Question, limits: tuple[Fraction, Fraction] | None = None) -> list[PopulationSize]:
        """The classes by their size in the population, ascending.

        Raises:
            UsageError: a class has more members in the table than in the population.
        """
        people = self.population(question)
        rows = [tuple(map(int, row)) for row in question.ask(_statement(question, people, limits=limits))]
        if too_many := sum(row[-1] for row in rows):
            raise UsageError(
                f"{plural(too_many, 'class has', 'classes have')} more members in the table than in the population "
                "table. Code the quasi-identifiers alike in both."
            )
        return [PopulationSize(*row[:-1]) for row in rows]

    def listing(self, question: Question, figure_and_label: tuple[str, str], **short: Any) -> KeyListing:
        """The classes one by one: those that fail by `short` (a condition, or limits), and what is told of each
        (a column, and its label)."""

        def relation() -> str:
            people = question.population
            assert people is not None
            return f"({_statement(question, people, stage='classes', **short).sql})"

        column, label = figure_and_label
        return KeyListing(relation, (column,), (label,))


class JournalistRisk(PopulationModel):
    """The highest chance to re-identify somebody when it is not known who is in the table."""

    name: ClassVar[str] = "journalist_risk"
    title: ClassVar[str] = "journalist risk (highest)"
    definition: ClassVar[str] = (
        "The highest risk of an attacker who has a list of the population: 1/F, F people of the class in the "
        "population."
    )
    reference: ClassVar[str] = EL_EMAM
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("risk", "decimal", "highest risk allowed", 0, 1),)
    figures: ClassVar[tuple[tuple[str, str, str], ...]] = (("risk", "", "journalist_risk"),)

    def short_alone(self) -> tuple[str, dict[str, object]]:
        """1/F above the limit."""
        return "riskier_in_population", {"limit": Fraction(self.values["risk"])}

    def judge_query(self, question: Question) -> Judgement:
        """1 over the smallest population class that the table meets."""
        met = [size for size in self.sizes(question) if size.met]
        levels = {"risk": Fraction(1, met[0].size) if met else None}
        limit = self.values["risk"]
        if limit is None:
            return Judgement(levels)
        short = [size for size in met if Fraction(1, size.size) > limit]
        listing = self.listing(question, PEOPLE, short=expression("people_riskier", limit=Fraction(limit)))
        return Judgement(levels, sum(size.met for size in short), sum(size.rows for size in short), listing=listing)


class MarketerRisk(PopulationModel):
    """The share of rows that an attacker who links everybody gets right on average."""

    name: ClassVar[str] = "marketer_risk"
    title: ClassVar[str] = "marketer risk"
    definition: ClassVar[str] = (
        "The expected share of correct links when all rows are linked: (1/n) Σ f/F, f rows and F people of each class."
    )
    reference: ClassVar[str] = "Dankar, El Emam: A Method for Evaluating Marketer Re-identification Risk, PAIS 2010"
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("risk", "decimal", "highest average allowed", 0, 1),)
    verdict_by_level: ClassVar[bool] = True
    figures: ClassVar[tuple[tuple[str, str, str], ...]] = (("risk", "", "marketer_risk"),)

    def judge_query(self, question: Question) -> Judgement:
        """A figure of the whole table; no single class is to blame."""
        met = [size for size in self.sizes(question) if size.met]
        members = sum(size.members for size in met)
        linked = sum((Fraction(size.members, size.size) for size in met), Fraction(0))
        return Judgement({"risk": linked / members if members else None})


class KMap(PopulationModel):
    """Every class of the table is the class of at least k people in the population."""

    name: ClassVar[str] = "k_map"
    title: ClassVar[str] = "k-map"
    definition: ClassVar[str] = "Every class of the table has at least k people in the population."
    reference: ClassVar[str] = "Sweeney: Computational Disclosure Control, PhD thesis, MIT 2001"
    parameters: ClassVar = (Parameter("k", "integer", "fewest people allowed", 1),)
    figures: ClassVar[tuple[tuple[str, str, str], ...]] = (("k", "MIN", "people"),)

    def short_alone(self) -> tuple[str, dict[str, object]]:
        """Fewer than k people."""
        return "fewer_people", {"k": self.values["k"]}

    def judge_query(self, question: Question) -> Judgement:
        """The smallest population class that the table meets."""
        met = [size for size in self.sizes(question) if size.met]
        levels = {"k": met[0].size if met else None}
        limit = self.values["k"]
        if limit is None:
            return Judgement(levels)
        short = [size for size in met if size.size < limit]
        listing = self.listing(question, PEOPLE, short=expression("people_below", k=limit))
        return Judgement(levels, sum(size.met for size in short), sum(size.rows for size in short), listing=listing)


class DeltaPresence(PopulationModel):
    """No one in the population can be told with confidence to be in the table, or not to be."""

    name: ClassVar[str] = "delta_presence"
    title: ClassVar[str] = "δ-presence"
    definition: ClassVar = (
        "δmin ≤ f/F ≤ δmax for every class of the population, including those without rows in the table (f = 0)."
    )
    reference: ClassVar[str] = "Nergiz, Atzori, Clifton: Hiding the Presence of Individuals, SIGMOD 2007"
    note: ClassVar[str] = "Failing classes are classes of the population; failing rows are rows of the table in them."
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("max", "decimal", "largest share of a population class allowed", 0, 1),
        Parameter("min", "decimal", "smallest share allowed", 0, 1, Fraction(0)),
    )
    figures: ClassVar[tuple[tuple[str, str, str], ...]] = (("max", "MAX", "presence"), ("min", "MIN", "presence"))
    only_met: ClassVar[bool] = False

    def short_alone(self) -> tuple[str, dict[str, object]]:
        """Outside both limits."""
        return "presence_outside", {"low": Fraction(self.values["min"]), "high": Fraction(self.values["max"])}

    def prepare(self) -> None:
        """The limits must leave something between them."""
        low, high = self.values["min"], self.values["max"]
        if high is not None and low > high:
            raise UsageError(f"{self.name}: min ({low}) is greater than max ({high}).")

    def judge_query(self, question: Question) -> Judgement:
        """The smallest and the largest share, exactly."""
        low, high = self.values["min"], self.values["max"]
        sizes = self.sizes(question, None if high is None else (Fraction(low), Fraction(high)))
        levels: dict[str, Any] = {
            "max": max((Fraction(size.most, size.size) for size in sizes), default=None),
            "min": min((Fraction(size.fewest, size.size) for size in sizes), default=None),
        }
        if high is None:
            return Judgement(levels)
        listing = self.listing(question, PRESENCE, limits=(Fraction(low), Fraction(high)))
        return Judgement(
            levels, sum(size.failing for size in sizes), sum(size.failing_rows for size in sizes), listing=listing
        )


def _statement(
    question: Question,
    people: Population,
    *,
    limits: tuple[Fraction, Fraction] | None = None,
    stage: str = "sizes",
    short: str = "",
) -> Statement:
    """Return the statement that compares class sizes of sample and population, up to a `stage`."""
    return render(
        "models/population_sizes.sql",
        question.dialect,
        step="classes in the population",
        **question.frame.parameters(),
        population=Raw(people.source),
        population_keys=[Raw(key) for key in people.keys],
        population_entity=None if people.entity is None else Raw(people.entity),
        limits=limits,
        stage=stage,
        short=short,
    )
