"""Risks in a population of which the table is a sample: estimated, from the sizes of its classes or from weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.found import ClassSizes
from sqlaudit.classes.listing import Keyed
from sqlaudit.models.base import Answers, Judgement, Parameter, Question, expression
from sqlaudit.models.kinds import SizeModel

if TYPE_CHECKING:  # an audit that asks nothing of the population loads no estimator
    from sqlaudit.population.estimate import Estimate
    from sqlaudit.population.sample import Sample
    from sqlaudit.population.sampling import SampledFrom

SAMPLING, DANKAR, LOGLINEAR = "sampling", "dankar", "loglinear"
RULE = (
    "Dankar, El Emam, Neisa, Roffey: Estimating the Re-identification Risk of Clinical Data Sets, "
    "BMC Medical Informatics and Decision Making 12:66, 2012"
)
INDIVIDUAL = (
    "Benedetti, Franconi: Statistical and Technological Solutions for Controlled Data Dissemination, NTTS 1998; "
    "Franconi, Polettini: Individual Risk Estimation in μ-Argus: A Review, PSD 2004, LNCS 3050"
)
ATTACKERS = ("journalist", "marketer", "prosecutor")
_MOST_DRAWS = 10_000


class EstimatedModel(SizeModel):
    """Base of what is estimated of the population of a sample."""

    needs: ClassVar[tuple[str, ...]] = (SAMPLING,)

    @classmethod
    def how_to_give(cls, needs: Sequence[str]) -> str:
        """The roles that say it."""
        ways = [spelled(name) for name in ("sampling_fraction", "population_size", "weights")]
        return (
            "is about a population of which the table is a sample: say which share of it the table is, with "
            f"{ways[0]}, {ways[1]} or {ways[2]}"
        )

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
        """What it is estimated from is not in one SELECT."""
        return "it is estimated in Python, from the sizes of all classes and the table's share of its population."

    @property
    def sampled(self) -> SampledFrom:
        """What is known of the population."""
        found: SampledFrom = self.context.inputs[SAMPLING]
        return found


class PopulationUniqueness(EstimatedModel):
    """The share of the people of the population who are alone in their class there."""

    name: ClassVar[str] = "population_uniqueness"
    title: ClassVar[str] = "population uniqueness (estimated)"
    definition: ClassVar[str] = (
        "Estimated share of the population whose class has one member there: by Pitman's sampling formula, Zayatz's "
        "estimator, the slide negative binomial model (snb), the rule of Dankar that chooses among them, or a "
        "log-linear model of the cells (loglinear)."
    )
    reference: ClassVar[str] = RULE
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("limit", "decimal", "largest share allowed", Fraction(0), Fraction(1)),
        Parameter("estimator", "text", "dankar, pitman, zayatz, snb or loglinear", default=DANKAR),
        Parameter("draws", "integer", "samples drawn for an interval", Fraction(0), Fraction(_MOST_DRAWS), 0),
        Parameter("seed", "integer", "of the draws", Fraction(0), None, 1),
    )
    main: ClassVar[str] = "limit"
    verdict_by_level: ClassVar[bool] = True
    inherited: ClassVar[bool] = False

    def prepare(self) -> None:
        """The estimator must be known."""
        from sqlaudit.population.estimators import check_estimator

        check_estimator(self.values["estimator"])

    def shown_parameters(self) -> dict[str, Any]:
        """The estimator; draws where there are any."""
        names = ["estimator", *(("draws", "seed") if self.values["draws"] else ())]
        return {name: self.values[name] for name in names}

    def judge(self, answers: Answers) -> Judgement:
        """From the sizes; a log-linear model from the cells of the table."""
        if self.values["estimator"] != LOGLINEAR:
            return super().judge(answers)
        return self._by_cells(answers.question, answers.sizes)

    def _by_cells(self, question: Question, sizes: ClassSizes) -> Judgement:
        """The sample uniques that are expected to be population uniques, over the fraction."""
        from sqlaudit.population.cells import cell_risk

        sample = self.sampled.sample(sizes)
        if sample is None:
            return Judgement({"share": None})
        found = cell_risk(question.frame, question.dialect, sample.fraction, question.ask)
        people = None if found.why_not else min(found.tau1 / sample.fraction, float(sample.population))
        share = None if people is None else people / sample.population
        levels = {"share": share, "unique_people": people, "tau1": found.tau1, "tau2": found.tau2}
        details = {"estimator": LOGLINEAR, "population": sample.population, "model": found.model, "test": found.test}
        told = f"no estimate by loglinear: {found.why_not}" if found.why_not else f"estimated with {found.model}"
        return Judgement(levels, details=details, note=told)

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """A figure of the whole population; without an estimate there is no level, which no limit holds."""
        from sqlaudit.population.estimators import estimate

        sample = self.sampled.sample(sizes)
        if sample is None:
            return Judgement({"share": None})
        found = estimate(sample, self.values["estimator"])
        if found.uniques is None:
            why = f"no estimate by {found.estimator}: {found.why_not}; other estimators may have one"
            return Judgement({"share": None}, details=_details(found, sample), note=why)
        levels = {"share": found.share, "unique_people": found.uniques, **self._interval(sample, found)}
        return Judgement(levels, details=_details(found, sample), note=_note(found, sample))

    def level_by_sizes(self, sizes: ClassSizes) -> Any:
        """The share alone, without draws.

        Raises:
            UsageError: a log-linear model, which the sizes do not tell.
        """
        if self.values["estimator"] == LOGLINEAR:
            raise UsageError(
                f"{self.name}: a log-linear model looks at the cells of a table, which no node of a lattice carries; "
                "take estimator:pitman, zayatz, snb or dankar."
            )
        from sqlaudit.population.estimators import estimate

        sample = self.sampled.sample(sizes)
        return None if sample is None else estimate(sample, self.values["estimator"]).share

    def _interval(self, sample: Sample, found: Estimate) -> dict[str, float]:
        from sqlaudit.population.bootstrap import bootstrap

        drawn = bootstrap(sample, found, self.values["draws"], self.values["seed"]) if self.values["draws"] else None
        if drawn is None:
            return {}
        return {"lower_95": drawn.low / sample.population, "upper_95": drawn.high / sample.population}


class PopulationK(EstimatedModel):
    """Every class of the table is a class of at least k people in the population, as far as a sample can tell."""

    name: ClassVar[str] = "population_k"
    title: ClassVar[str] = "population k (estimated)"
    definition: ClassVar[str] = (
        "Every class of the table has at least k people in the population, with 95% confidence: fewer would show as "
        "many rows in at most 5% of the samples of this fraction (or of these weights) that show any. As k-map, "
        "without a population table."
    )
    reference: ClassVar[str] = "El Emam, Dankar: Protecting Privacy Using k-Anonymity, JAMIA 15(5), 2008"
    note: ClassVar[str] = "People of the population are estimated, class by class: one in twenty may have fewer."
    parameters: ClassVar = (Parameter("k", "integer", "fewest people allowed", Fraction(1)),)
    main: ClassVar[str] = "k"
    inherited_with_limit: ClassVar[bool] = True

    def judge(self, answers: Answers) -> Judgement:
        """From the sizes, or where rows have weights from these."""
        if not self.sampled.weighted:
            return super().judge(answers)
        lightest = _lightest(answers.question)
        lighter = self._lighter(lightest)
        found = _weighted(answers.question, lighter)
        levels = {"people": _fewest(lightest)}
        if not self.is_required or not lightest:
            return Judgement(levels)

        def relation() -> str:
            return f"({_statement(answers.question, lighter, 'classes').sql})"

        listing = Keyed(relation, ("people",), ("people_in_population",))
        return Judgement(levels, int(found["failing"]), int(found["failing_rows"]), listing=listing)

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """The smallest class tells."""
        share = self.sampled.fraction
        if share is None or sizes.min_size is None:
            return Judgement({"people": None})
        from sqlaudit.population.k_map import fewest_people

        return Judgement({"people": fewest_people(sizes.min_size, share)})

    def failing_sizes(self) -> str:
        """Fewer rows than k people show; nothing where weights say it."""
        share = self.sampled.fraction
        if share is None or self.sampled.weighted:
            return ""
        from sqlaudit.population.k_map import fewest_rows

        return expression("below", fact="size", limit=fewest_rows(self.values["k"], share))

    def _lighter(self, lightest: Sequence[tuple[int, float]]) -> str:
        """That a class is too light for its rows; no weight is enough for a single row, and any from k rows on."""
        from sqlaudit.population.k_map import least_weight

        if not self.is_required:
            return expression("never")
        limits = [(size, least_weight(size, self.values["k"])) for size, _ in lightest if size < self.values["k"]]
        return expression("people_too_light", limits=limits) if limits else expression("never")


class ExpectedReidentifications(EstimatedModel):
    """How many rows an attacker is expected to get right."""

    name: ClassVar[str] = "expected_reidentifications"
    title: ClassVar[str] = "expected re-identifications (estimated)"
    definition: ClassVar[str] = (
        "journalist: Σ f E[1/F] over the classes, F negative binomial given f rows and the fraction or weights "
        "(individual risk). marketer: Σ f/F, F estimated. prosecutor, who knows who is in the sample: the classes."
    )
    reference: ClassVar[str] = INDIVIDUAL
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("number", "decimal", "largest number allowed", Fraction(0)),
        Parameter("attacker", "text", "journalist, marketer or prosecutor", default=ATTACKERS[0]),
    )
    main: ClassVar[str] = "number"
    verdict_by_level: ClassVar[bool] = True

    def prepare(self) -> None:
        """The attacker must be known."""
        if self.values["attacker"] not in ATTACKERS:
            raise UsageError(
                f"{self.name}: an attacker is {', '.join(ATTACKERS[:-1])} or {ATTACKERS[-1]}, not "
                f"{self.values['attacker']!r}."
            )

    def judge(self, answers: Answers) -> Judgement:
        """From the sizes, or where rows have weights from these."""
        if not self.sampled.weighted:
            return super().judge(answers)
        found = _weighted(answers.question, expression("never"))
        if not found["classes"]:
            return Judgement({"number": None})
        numbers = {name: float(found[name]) for name in ATTACKERS[:2]}
        return Judgement(self._levels({**numbers, "prosecutor": int(found["classes"])}))

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """A figure of the whole table; no single class is to blame."""
        from sqlaudit.population.individual import individual_risk

        share = self.sampled.fraction
        if share is None or not sizes.members:
            return Judgement({"number": None})
        chance = float(share)
        journalist = sum(size * classes * individual_risk(size, chance) for size, classes in sizes.sizes)
        numbers = {"journalist": journalist, "marketer": sizes.count * share, "prosecutor": sizes.count}
        return Judgement(self._levels(numbers))

    def _levels(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """The attacker who is asked about first, and all of them side by side."""
        return {"number": numbers[self.values["attacker"]], **{name: numbers[name] for name in ATTACKERS}}


def _weighted(question: Question, short: str) -> dict[str, Any]:
    """What weights say of the classes.

    Raises:
        UsageError: in some class they add up to fewer people than rows.
    """
    names = ("classes", "too_light", "failing", "failing_rows", "journalist", "marketer")
    found = dict(zip(names, question.ask(_statement(question, short, "figures"))[0], strict=True))
    if found["too_light"]:
        raise UsageError(
            f"In {int(found['too_light']):,} classes the weights add up to fewer people than rows; a weight says how "
            "many people of the population a row stands for, itself included."
        )
    return found


def _lightest(question: Question) -> list[tuple[int, float]]:
    """Each number of rows that a class has, with the least weight of such a class."""
    rows = question.ask(_statement(question, expression("never"), "sizes"))
    return [(int(size), float(people)) for size, people in rows]


def _fewest(lightest: Sequence[tuple[int, float]]) -> int | None:
    from sqlaudit.population.k_map import fewest_people

    return min((fewest_people(size, min(1.0, size / people)) for size, people in lightest), default=None)


def _statement(question: Question, short: str, stage: str) -> Statement:
    frame = question.frame
    assert frame.weights is not None
    return render(
        "population/weighted_classes.sql",
        question.dialect,
        step="classes by weights",
        source=Raw(frame.source),
        keys=[Raw(key) for key in frame.keys],
        solo=frame.solo and bool(frame.keys),
        weight=Raw(frame.weights),
        short=short,
        stage=stage,
    )


def _details(found: Estimate, sample: Sample) -> dict[str, Any]:
    """What the estimate rests on."""
    return {
        "estimator": found.estimator,
        "population": sample.population,
        "sampling_fraction": sample.fraction,
        "parameters": dict(found.parameters),
    }


def _note(found: Estimate, sample: Sample) -> str:
    """Who estimated, and that the figure is none of the table."""
    if not found.uniques:  # nobody unique was drawn n times: with 95% confidence they are at most 3/n
        most = f"{min(100.0, 300 / sample.members):.2g}%"
        return f"no row of the sample is unique, so the estimate is 0; up to {most} may be (95% confidence)"
    share = f"{100 * sample.fraction:.4g}%"
    return f"estimated by {found.estimator} for {sample.population:,} people, of whom {share} are in the table"
