"""Risks in a population of which the table is a sample: estimated, from the sizes of its classes or from weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.models.base import Answers, Check, Judgement, Parameter, Question, SizeModel, expression
from sqlaudit.reports.document import count, figure, part, percent

if TYPE_CHECKING:  # an audit that asks nothing of the population loads no estimator
    from sqlaudit.population.estimators import Estimate
    from sqlaudit.population.sample import Sample, SampledFrom

SAMPLING, DANKAR, LOGLINEAR = "sampling", "dankar", "loglinear"
RULE = (
    "Dankar, El Emam, Neisa, Roffey: Estimating the Re-identification Risk of Clinical Data Sets, "
    "BMC Medical Informatics and Decision Making 12:66, 2012"
)
INDIVIDUAL = (
    "Benedetti, Franconi: Statistical and Technological Solutions for Controlled Data Dissemination, NTTS 1998; "
    "Franconi, Polettini: Individual Risk Estimation in μ-Argus: A Review, PSD 2004, LNCS 3050"
)
_BRING = "With a table of the population among the inputs, require k_map, journalist_risk or marketer_risk"
_UNEVEN = f"weights prove nothing about a class with fewer than k rows. {_BRING}"
ATTACKERS = ("journalist", "marketer", "prosecutor")
_MOST_DRAWS = 10_000


class EstimatedModel(SizeModel):
    """Base of what is estimated of the population of a sample."""

    needs: ClassVar[tuple[str, ...]] = (SAMPLING,)

    @classmethod
    def how_to_give(cls, needs: Sequence[str]) -> str:
        """Return how to state the share of the population that the table is, as the end of a sentence."""
        ways = [spelled(name) for name in ("sampling_fraction", "population_size", "weights")]
        return (
            "is about a population of which the table is a sample. State the sampling fraction, with "
            f"{ways[0]}, {ways[1]} or {ways[2]}"
        )

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, object], inputs: Mapping[str, object]) -> str:
        """Return why there is no single SELECT for the estimate."""
        return "it is estimated in Python, from the sizes of all classes and the table's share of its population."

    @property
    def sampled(self) -> SampledFrom:
        """Return what is known of the population."""
        sampled_from: SampledFrom = self.context.inputs[SAMPLING]
        return sampled_from


class PopulationUniqueness(EstimatedModel):
    """The share of the people of the population who are alone in their class there."""

    name: ClassVar[str] = "population_uniqueness"
    title: ClassVar[str] = "population uniqueness (estimated)"
    definition: ClassVar = (
        "Estimated share of the population whose class has one member there: by Pitman's sampling formula, Zayatz's "
        "estimator, the slide negative binomial model (snb), the rule of Dankar that chooses among them, or a "
        "log-linear model of the cells (loglinear)."
    )
    reference: ClassVar[str] = RULE
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("limit", "decimal", "largest share allowed", 0, 1),
        Parameter("estimator", "text", "dankar, pitman, zayatz, snb or loglinear", default=DANKAR),
        Parameter("draws", "integer", "samples drawn for the interval", 0, _MOST_DRAWS, 0),
        Parameter("seed", "integer", "seed of the draws", 0, None, 1),
    )
    verdict_by_level: ClassVar[bool] = True
    inherited: ClassVar[bool] = False

    def prepare(self) -> None:
        """Raise UsageError if there is no such estimator."""
        from sqlaudit.population.estimators import check_estimator

        check_estimator(self.values["estimator"])

    def shown_parameters(self) -> dict[str, object]:
        """Return the estimator, and the number and seed of draws if there are any."""
        names = ["estimator", *(("draws", "seed") if self.values["draws"] else ())]
        return {name: self.values[name] for name in names}

    @classmethod
    def population_rows(cls, check: Check, sizes: ClassSizes) -> Iterator[tuple[str, str, str, str]]:
        """Yield the unique people, and their upper bound."""
        _, unique = sizes.below(2)
        share, people = check.levels.get("share"), check.levels.get("unique_people")
        name = f"unique people (estimator: {check.details.get('estimator', check.parameters.get('estimator'))})"
        estimate = "no estimate" if share is None else f"{count(round(people or 0))} ({percent(share)})"
        yield name, f"{count(unique)} ({part(unique, sizes.members)})", estimate, _times(check.details.get("bias", {}))
        if (bound := check.levels.get("upper_bound")) is not None:
            yield "unique people at most (95% confidence)", "", percent(bound), ""

    @classmethod
    def population_sentence(cls, check: Check, amount: Callable[[int], str]) -> tuple[str, str]:
        """Return the unique people."""
        people, text = check.levels.get("unique_people"), "no estimate"
        if people is not None:
            text = f"{amount(round(people))}; {check.details['bias']['sentence']}"
        return "unique people in the population, estimated", text

    def judge(self, answers: Answers) -> Judgement:
        """Judge from the class sizes; a log-linear model needs the cells of the table."""
        if self.values["estimator"] != LOGLINEAR:
            return super().judge(answers)
        return self._by_cells(answers.question, answers.sizes)

    def _by_cells(self, question: Question, sizes: ClassSizes) -> Judgement:
        """Judge by the population uniques: the expected ones among the sample uniques, divided by the fraction."""
        from sqlaudit.population.loglinear import cell_risk

        sample = self.sampled.sample(sizes)
        if sample is None:
            return Judgement({"share": None})
        risk = cell_risk(question.frame, question.dialect, sample.fraction, question.ask)
        people = None if risk.why_not else min(risk.tau1 / sample.fraction, float(sample.population))
        share = None if people is None else people / sample.population
        levels = {"share": share, "unique_people": people, "tau1": risk.tau1, "tau2": risk.tau2}
        details = {"estimator": LOGLINEAR, "population": sample.population, "model": risk.model, "test": risk.test}
        if share is None:
            return Judgement(levels, details=details, note=f"no estimate by loglinear: {risk.why_not}")
        return self._bounded(levels, details, f"estimated with {risk.model}", sample)

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """Judge the share of unique people in the population. There is no level, and no pass, without an estimate."""
        from sqlaudit.population.estimators import estimate

        sample = self.sampled.sample(sizes)
        if sample is None:
            return Judgement({"share": None})
        estimation = estimate(sample, self.values["estimator"])
        if estimation.uniques is None:
            why = f"no estimate by {estimation.estimator}: {estimation.why_not}; other estimators may have one"
            return Judgement({"share": None}, details=_details(estimation, sample), note=why)
        levels = {"share": estimation.share, "unique_people": estimation.uniques}
        if self.values["draws"]:
            from sqlaudit.population.bounds import bootstrap

            drawn = bootstrap(sample, estimation, self.values["draws"], self.values["seed"])
            people = sample.population
            levels |= {} if drawn is None else {"drawn_low": drawn.low / people, "drawn_high": drawn.high / people}
        share = f"{100 * sample.fraction:.4g}%"
        note = f"estimated by {estimation.estimator} for {sample.population:,} people, of whom {share} are in the table"
        if not estimation.uniques:
            note = "no row of the sample is unique, so the estimate is 0"
        return self._bounded(levels, _details(estimation, sample), note, sample)

    def _bounded(self, levels: dict[str, Any], details: dict[str, Any], note: str, sample: Sample) -> Judgement:
        """Return the judgement by the estimate and its upper bound.

        The estimate can fail a limit. Only the upper bound can pass one: until it does, the verdict is open.
        """
        from sqlaudit.population.bounds import bias

        bound, limit, off = self._bound(sample), self.required, bias(details["estimator"], sample.fraction)
        undecided = limit is not None and (bound is None or bound > limit)
        notes = (note, off["sentence"], *((_unproven("unique rows of the sample", bound),) if undecided else ()))
        return Judgement(
            {**levels, "upper_bound": bound},
            details={**details, "bias": off},
            note=". ".join(notes),
            undecided=undecided and levels["share"] <= limit,
        )

    def _bound(self, sample: Sample) -> float | None:
        """Return the largest share of unique people that the unique rows of the sample allow.

        None with weights, where rows are not equally likely to be drawn.
        """
        from sqlaudit.population.bounds import most_uniques

        if self.sampled.weighted:
            return None
        return min(1.0, most_uniques(sample.of_size(1), sample.fraction) / sample.population)

    def level_by_sizes(self, sizes: ClassSizes) -> Any:
        """Return the share that a limit must allow: the estimate, or its upper bound where that is larger.

        Draws are left out, because they do not change the verdict.

        Raises:
            UsageError: a log-linear model, which cannot be estimated from class sizes.
        """
        if self.values["estimator"] == LOGLINEAR:
            raise UsageError(
                f"{self.name}: a log-linear model needs the cells of a table, which nodes of a lattice do not have. "
                "Use estimator:pitman, zayatz, snb or dankar."
            )
        from sqlaudit.population.estimators import estimate

        sample = self.sampled.sample(sizes)
        share = None if sample is None else estimate(sample, self.values["estimator"]).share
        bound = None if sample is None else self._bound(sample)
        return None if share is None or bound is None else max(share, bound)


class PopulationK(EstimatedModel):
    """Every class of the table is a class of at least k people in the population, as far as a sample can tell."""

    name: ClassVar[str] = "population_k"
    title: ClassVar[str] = "population k (estimated)"
    definition: ClassVar = (
        "Every class of the table has at least k people in the population, with 95% confidence for all classes "
        "together: in at most 5% of the samples does any class of fewer people show as many rows. Like k-map, but "
        "without a population table. With weights, only classes of k rows are proven."
    )
    reference: ClassVar[str] = "El Emam, Dankar: Protecting Privacy Using k-Anonymity, JAMIA 15(5), 2008"
    note: ClassVar[str] = "Proven for simple random samples: every person is equally likely to be in the table."
    parameters: ClassVar = (Parameter("k", "integer", "fewest people allowed", 1),)
    inherited_with_limit: ClassVar[bool] = True

    @classmethod
    def population_rows(cls, check: Check, sizes: ClassSizes) -> Iterator[tuple[str, str, str, str]]:
        """Yield the smallest group."""
        people = check.levels.get("people")
        yield "smallest group", count(sizes.min_size or 0), "–" if people is None else f"at least {figure(people)}", ""

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """Judge by the fewest people in the population who are in the smallest class of the table."""
        share, smallest = self.sampled.fraction, sizes.min_size
        if share is None or smallest is None:
            return Judgement({"people": None})
        if self.sampled.weighted:
            proven = self.is_required and smallest >= self.values["k"]
            failing = 0 if proven else None
            return Judgement({"people": smallest}, failing, failing, note="" if proven else _UNEVEN)
        from sqlaudit.population.bounds import fewest_people

        return Judgement({"people": fewest_people(smallest, share, max(1, self.sampled.rows))})

    def failing(self) -> str:
        """Return the condition on classes too small to prove k people; empty with weights, which prove nothing."""
        share = self.sampled.fraction
        if share is None or self.sampled.weighted:
            return ""
        from sqlaudit.population.bounds import fewest_rows

        return expression("below", fact="size", limit=fewest_rows(self.values["k"], share, max(1, self.sampled.rows)))


class ExpectedReidentifications(EstimatedModel):
    """How many rows an attacker is expected to get right."""

    name: ClassVar[str] = "expected_reidentifications"
    title: ClassVar[str] = "expected re-identifications (estimated)"
    definition: ClassVar = (
        "journalist: Σ f E[1/F] over the classes, F negative binomial given f rows and the fraction or weights "
        "(individual risk). marketer: Σ f/F, F estimated. prosecutor (knows who is in the sample): the classes."
    )
    reference: ClassVar[str] = INDIVIDUAL
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("number", "decimal", "largest number allowed", 0),
        Parameter("attacker", "text", "journalist, marketer or prosecutor", default=ATTACKERS[0]),
    )
    verdict_by_level: ClassVar[bool] = True

    def prepare(self) -> None:
        """Raise UsageError if there is no such attacker."""
        if self.values["attacker"] not in ATTACKERS:
            raise UsageError(
                f"{self.name}: an attacker is {', '.join(ATTACKERS[:-1])} or {ATTACKERS[-1]}, not "
                f"{self.values['attacker']!r}."
            )

    @classmethod
    def population_rows(cls, check: Check, sizes: ClassSizes) -> Iterator[tuple[str, str, str, str]]:
        """Yield the numbers of all attackers."""
        if check.levels.get("number") is None:
            return
        prosecutor = "people re-identified by someone who knows who is in the sample (prosecutor)"
        yield prosecutor, figure(check.levels["prosecutor"]), "–", ""
        for name, how in (("journalist", "row by row"), ("marketer", "all rows at once")):
            bias = _times(check.details["bias"][name])
            yield f"people re-identified {how} ({name})", "–", figure(check.levels[name]), bias

    @classmethod
    def population_sentence(cls, check: Check, amount: Callable[[int], str]) -> tuple[str, str] | None:
        """Return the links that a marketer gets right."""
        number = check.levels.get("marketer")
        if number is None:
            return None
        text = f"{amount(round(number))}; {check.details['bias']['marketer']['sentence']}"
        return "correct links when all rows are linked, estimated", text

    def judge(self, answers: Answers) -> Judgement:
        """Judge from the class sizes, or from the weights of the rows if they have some."""
        if not self.sampled.weighted:
            return super().judge(answers)
        sums = _weighted(answers.question)
        if not sums["classes"]:
            return Judgement({"number": None})
        numbers = {name: float(sums[name]) for name in ATTACKERS[:2]}
        return self._bounded({**numbers, "prosecutor": int(sums["classes"])}, float(self.sampled.fraction or 1))

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """Judge the numbers of the three attackers, which add up over all classes: no class fails by itself."""
        from sqlaudit.population.sample import individual_risk

        share = self.sampled.fraction
        if share is None or not sizes.members:
            return Judgement({"number": None})
        chance = float(share)
        journalist = sum(size * classes * individual_risk(size, chance) for size, classes in sizes.sizes)
        numbers = {"journalist": journalist, "marketer": sizes.count * share, "prosecutor": sizes.count}
        return self._bounded(numbers, chance)

    def level_by_sizes(self, sizes: ClassSizes) -> Any:
        """Return what a limit must allow: the prosecutor's number, which no attacker exceeds."""
        return self.judge_sizes(sizes).levels.get("prosecutor")

    def _bounded(self, numbers: Mapping[str, Any], share: float) -> Judgement:
        """Return the judgement by the number of the required attacker, with the numbers of all.

        An estimate can fail a limit. Only the prosecutor's number can pass one: it is exact, and no attacker gets more
        than one row right in each class.
        """
        from sqlaudit.population.bounds import bias

        attacker, bound, limit = self.values["attacker"], numbers["prosecutor"], self.required
        levels = {"number": numbers[attacker], **{name: numbers[name] for name in ATTACKERS}}
        details = {"bias": {name: bias(name, share) for name in ATTACKERS[:2]}}
        if attacker == "prosecutor":
            return Judgement(levels, details=details)
        undecided = limit is not None and bound > limit
        notes = (
            details["bias"][attacker]["sentence"],
            *((_unproven("classes of the table", bound),) if undecided else ()),
        )
        return Judgement(
            levels, details=details, note=". ".join(notes), undecided=undecided and numbers[attacker] <= limit
        )


def _times(bias: Mapping[str, object]) -> str:
    """Return how far off an estimate was in tests, as a multiple of the truth."""
    return f"{bias['lowest']:g} to {bias['highest']:g} ×" if bias else ""


def _weighted(question: Question) -> dict[str, Any]:
    """Estimate the number of correct re-identifications from the weights of rows.

    Returns:
        `classes`: number of classes. `too_light`: 0. `journalist`, `marketer`: expected number of rows that the
        attacker gets right.

    Raises:
        UsageError: the weights of a class add up to fewer people than it has rows.
    """
    frame = question.frame
    assert frame.weights is not None
    statement = render(
        "population/weighted_classes.sql",
        question.dialect,
        step="classes by weights",
        **frame.parameters(),
        weight=Raw(frame.weights),
    )
    names = ("classes", "too_light", "journalist", "marketer")
    sums = dict(zip(names, question.ask(statement)[0], strict=True))
    if sums["too_light"]:
        raise UsageError(
            f"In {int(sums['too_light']):,} classes the weights add up to fewer people than rows. A weight is the "
            "number of people in the population that a row represents, itself included."
        )
    return sums


def _unproven(what: str, bound: float | None) -> str:
    """Return why an estimate within the limit is no pass, and what to do."""
    proven = "with weights there is no bound" if bound is None else f"the {what} prove only at most {figure(bound)}"
    return f"An estimate alone cannot pass, and {proven}. {_BRING}"


def _details(estimation: Estimate, sample: Sample) -> dict[str, object]:
    """Return the basis of the estimate: estimator, population and sampling fraction."""
    return {
        "estimator": estimation.estimator,
        "population": sample.population,
        "sampling_fraction": sample.fraction,
        "parameters": dict(estimation.parameters),
    }
