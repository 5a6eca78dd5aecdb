"""What an attacker believes: Bayes-optimal belief of who knows the population, and the worst case of k pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import command
from sqlaudit.base.relation import Statement
from sqlaudit.base.result import Number
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.failing import AllClassesListing, KeyListing, SignatureListing
from sqlaudit.models.base import (
    Judgement,
    Parameter,
    Population,
    QueryModel,
    Question,
    SignatureModel,
    StatedPerson,
    band,
    expression,
    number,
)
from sqlaudit.models.diversity import THESIS

if TYPE_CHECKING:
    from sqlaudit.classes.facts import IntArray, Signatures
    from sqlaudit.models.disclosure.program import ClassDisclosure


# What an attacker believes who knows the population: Bayes-optimal belief, and the breaches that follow from it.
#
# For a person with original quasi-identifiers q0 inside the class q*, the belief in a value s is proportional to
# n(q*,s) N(q0,s) / N(q*,s): rows of the class with s, people of the population with q0 and s, and with q* and s (the
# sizes of q0 and q* cancel). Floats decide what lies clear of a limit, fractions the rest.

MAX_LISTED = 5_000
"""Up to this many of them that turn out to fail are listed to find their classes again."""
MAX_CASES = 200_000
"""Up to this many different cases at a limit are decided one by one; beyond, the check stays undetermined."""


@dataclass(frozen=True)
class Limit:
    """A breach: the posterior is above (`>`) or below (`<`) a limit, and the prior below or above one, if given."""

    operator: str
    posterior: Fraction
    prior_operator: str = ""
    prior: Fraction = Fraction(0)

    @property
    def low(self) -> float:
        """Below this a float posterior is surely below the limit."""
        return band(float(self.posterior))[0]

    @property
    def high(self) -> float:
        """Above this a float posterior is surely above the limit."""
        return band(float(self.posterior))[1]

    def breached(self, prior: Fraction, posterior: Fraction) -> bool:
        """Return True if these beliefs are a breach."""
        if self.prior_operator and not _compares(prior, self.prior_operator, self.prior):
            return False
        return _compares(posterior, self.operator, self.posterior)

    @property
    def of_absent(self) -> bool:
        """Return True if a value with prior and posterior 0 is a breach."""
        return self.breached(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class FoundBelief:
    """What the first statement says of all classes; `doubtful` are classes with beliefs too close to a limit."""

    unknown: int
    highest: float | None
    lowest: float | None
    people: int
    impossible: int
    breaches: int
    classes: int
    rows: int
    doubtful: int
    at_limit: tuple[str, ...] = field(default=(), kw_only=True)
    """The cases of classes that only the beliefs at a limit make fail."""


class BayesOptimalBelief(QueryModel):
    """The highest belief in a sensitive value that the class leads to."""

    name: ClassVar[str] = "bayes_optimal_belief"
    title: ClassVar[str] = "Bayes-optimal belief"
    definition: ClassVar = (
        "The highest belief of an attacker in one sensitive value s: β(q0,s) = n(q*,s) f(s|q0)/f(s|q*) over its sum "
        "over s, where f are the shares in the population, q0 a person's original quasi-identifiers and q* the class."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.1.3 and 3.2; Machanavajjhala et al., TKDD 2007, theorem 3.1"
    note: ClassVar[str] = "q0 runs over all original values that the population has inside a class of the table."
    operator: ClassVar[str] = "<="
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("posterior", "decimal", "highest belief allowed", 0, 1),)
    short_forms: ClassVar[tuple[str, ...]] = ("belief",)
    needs: ClassVar[tuple[str, ...]] = ("population", "original_qi")
    inherited: ClassVar[bool] = False
    one_value_per_person: ClassVar[bool] = True

    def limits(self) -> tuple[Limit, ...]:
        """Return what a breach is; none when only the beliefs are asked for."""
        limit = self.values["posterior"]
        return () if limit is None else (Limit(">", Fraction(limit)),)

    def levels_of(self, belief: FoundBelief) -> dict[str, Number | None]:
        """The beliefs, the main one first."""
        return {"posterior": belief.highest, "lowest": belief.lowest}

    def judge_query(self, question: Question) -> Judgement:
        """The beliefs over all people of the population in a class of the table.

        Raises:
            UsageError: a value that a class has and the population does not have there.
        """
        people = self.population(question, sensitive=True)
        unknown, highest, lowest, *counts = question.ask(self._statement(question, people, "totals"))[0]
        beliefs = [None if belief is None else float(number(belief)) for belief in (highest, lowest)]
        strongest = FoundBelief(int(unknown), beliefs[0], beliefs[1], *(int(count or 0) for count in counts))
        if strongest.unknown:
            raise UsageError(
                f"{strongest.unknown:,} combinations of class and value of {self.table.name} occur in the table but "
                "not in the population table, so no belief follows from it: the columns must be coded alike in both."
            )
        details: dict[str, object] = {"people": strongest.people, "contradicted": strongest.impossible}
        if people.person is not None:
            details["person"] = self._of_person(question, people, people.person)
        if not self.is_required:
            return Judgement(self.levels_of(strongest), details=details)
        if strongest.doubtful:
            cases = question.ask(self._statement(question, people, "cases"))
            if len(cases) > MAX_CASES:
                note = "too many beliefs lie within float error of the limit to decide"
                return Judgement(self.levels_of(strongest), details=details, note=note)
            strongest = self._decided(strongest, cases)
        details["breaches"] = strongest.breaches
        judgement = Judgement(self.levels_of(strongest), strongest.classes, strongest.rows, details)
        if len(strongest.at_limit) > MAX_LISTED:
            return replace(judgement, unnamed=f"has more than {MAX_LISTED:,} kinds of classes at its limit")

        def relation() -> str:
            return f"({self._statement(question, people, 'classes', strongest.at_limit).sql})"

        listing = KeyListing(relation, ("highest", "lowest"), ("highest_belief", "lowest_belief"))
        return replace(judgement, listing=listing)

    def _of_person(self, question: Question, people: Population, person: StatedPerson) -> list[dict[str, object]]:
        """Prior and posterior belief in each value that the population knows of people like this one, exactly.

        Raises:
            UsageError: no one in the population who is in a class of the table matches, or people of several classes.
        """
        rows = question.ask(self._statement(question, people, "person"), person.values)
        if not rows:
            raise UsageError(
                f"{person.place}: no one in the population who is in a class of the table matches this person."
            )
        if len(classes := {row[:-4] for row in rows}) > 1:
            raise UsageError(
                f"{person.place}: people like this one are in {len(classes)} classes. Describe the person more closely."
            )
        numbers, values = [tuple(map(int, row[-4:])) for row in rows], self.table.values
        terms = [self._term(*row) for row in numbers]
        everybody, total = sum(here for _, _, here, _ in numbers), sum(terms)
        ranks = sorted(range(self.table.distinct), key=lambda lane: (-self.table.totals[lane], lane))
        beliefs: list[dict[str, Any]] = [
            {
                "rank": ranks.index(lane) + 1,
                **({"value": None if values[lane] is None else str(values[lane])} if person.show_values else {}),
                "prior": Fraction(here, everybody),
                "posterior": term / total if total else None,
            }
            for (lane, _, here, _), term in zip(numbers, terms, strict=True)
            if lane >= 0
        ]
        return sorted(beliefs, key=lambda belief: (-(belief["posterior"] or 0), belief["rank"]))

    def _term(self, lane: int, n: int, here: int, around: int) -> Fraction:
        """Return what a belief is a share of: n rows of the class with the value, N(q0,s), and N(q*,s)."""
        factors = self.context.inputs.get("alpha")
        factor: Fraction = Fraction(1) if factors is None or lane < 0 else factors[lane]
        return factor * Fraction(n * here, around)

    def _statement(self, question: Question, people: Population, stage: str, at_limit: Sequence[str] = ()) -> Statement:
        """Return the statement that counts beliefs, up to a `stage`."""
        limits = self.limits()
        factors = self.context.inputs.get("alpha")
        # whether each original quasi-identifier holds numbers, and the parameter that it is compared with
        stated = people.person.numbers if people.person is not None and stage == "person" else ()
        return render(
            "models/belief.sql",
            question.dialect,
            step=f"beliefs ({stage})",
            **question.frame.parameters(),
            text=self.table.text,
            null_lane=self.table.distinct - 1,
            population=Raw(people.source),
            population_keys=[Raw(key) for key in people.keys],
            population_sensitive=Raw(people.sensitive or ""),
            originals=[Raw(key) for key in people.original],
            factors=[float(factor) for factor in factors] if factors else None,
            limits=list(limits),
            of_absent=any(limit.of_absent for limit in limits),
            stated=[(number, Raw(f"${number_of_parameter}")) for number_of_parameter, number in enumerate(stated, 1)],
            stage=stage,
            most=MAX_CASES + 1,
            at_limit=list(at_limit),
        )

    def _decided(self, beliefs: FoundBelief, cases: Sequence[tuple[Any, ...]]) -> FoundBelief:
        """With the beliefs at a limit, too: (breached already, persons' cases of a class, classes, rows) each."""
        breaches, classes, rows, at_limit = beliefs.breaches, beliefs.classes, beliefs.rows, []
        for already, text, count, table_rows in cases:
            breaches_at_limit = sum(self._breaches_at_limit(case) for case in str(text).split("|"))
            breaches += breaches_at_limit * int(count)
            if breaches_at_limit and not int(already):
                classes, rows = classes + int(count), rows + int(table_rows)
                at_limit.append(str(text))
        return replace(beliefs, breaches=breaches, classes=classes, rows=rows, doubtful=0, at_limit=tuple(at_limit))

    def _breaches_at_limit(self, case: str) -> int:
        """The doubtful beliefs of one q0 that are breaches; its values come as lane:n:N(q0,s):N(q*,s):doubtful."""
        values = [tuple(map(int, value.split(":"))) for value in case.split(",")]
        terms = [self._term(lane, n, here, around) for lane, n, here, around, _ in values]
        total, people = sum(terms), sum(here for _, _, here, _, _ in values)
        return sum(
            any(limit.breached(Fraction(value[2], people), Fraction(term, total)) for limit in self.limits())
            for value, term in zip(values, terms, strict=True)
            if value[4]
        )


class RhoBreach(BayesOptimalBelief):
    """No belief jumps from low to high, or from high to low."""

    name: ClassVar[str] = "rho1_rho2_breach"
    title: ClassVar[str] = "(ρ1,ρ2)-privacy breach"
    definition: ClassVar = (
        "No prior < ρ1 with posterior > ρ2, and no prior > 1−ρ1 with posterior < 1−ρ2; prior = the value's share "
        "among people with the same original quasi-identifiers. The level counts the breaches."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.1.6; Evfimievski, Gehrke, Srikant, PODS 2003"
    parameters: ClassVar = (
        Parameter("rho1", "decimal", "upper limit of a low belief", 0, 1),
        Parameter("rho2", "decimal", "lower limit of a high belief", 0, 1),
    )
    short_forms: ClassVar[tuple[str, ...]] = ("rho_breach",)
    main: ClassVar[str] = ""
    by_default: ClassVar[bool] = False

    @property
    def required(self) -> Number | None:
        """No breach."""
        return 0 if self.is_required else None

    def limits(self) -> tuple[Limit, ...]:
        """Up and down."""
        low, high = Fraction(self.values["rho1"]), Fraction(self.values["rho2"])
        return Limit(">", high, "<", low), Limit("<", 1 - high, ">", 1 - low)

    def judge_query(self, question: Question) -> Judgement:
        """As the beliefs; the main number is how many breaches there are."""
        judgement = super().judge_query(question)
        breaches = judgement.details.get("breaches")
        levels = {"breaches": breaches, **judgement.levels}
        return replace(judgement, levels=levels)


class DeltaPositive(BayesOptimalBelief):
    """No one can be nearly sure that a person has a value."""

    name: ClassVar[str] = "delta_positive_disclosure"
    title: ClassVar[str] = "δ-positive disclosure"
    definition: ClassVar[str] = "No posterior above 1 − δ. The level is the highest posterior, the limit 1 − δ."
    reference: ClassVar[str] = f"{THESIS}, 3.1.4"
    parameters: ClassVar = (Parameter("delta", "decimal", "minimum distance of a belief from certainty", 0, 1),)
    short_forms: ClassVar[tuple[str, ...]] = ("delta_positive",)
    by_default: ClassVar[bool] = False

    @property
    def required(self) -> Number | None:
        """1 − delta."""
        return 1 - Fraction(self.values["delta"]) if self.is_required else None

    def limits(self) -> tuple[Limit, ...]:
        """Too sure."""
        return (Limit(">", 1 - Fraction(self.values["delta"])),)


class EpsilonNegative(BayesOptimalBelief):
    """No one can be nearly sure that a person does not have a value."""

    name: ClassVar[str] = "epsilon_negative_disclosure"
    title: ClassVar[str] = "ε-negative disclosure"
    definition: ClassVar = (
        "No posterior below ε, for any value of the table or the population; a value that is absent from a class has "
        "posterior 0 there. The level is the lowest posterior."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.1.5"
    operator: ClassVar[str] = ">="
    parameters: ClassVar = (Parameter("epsilon", "decimal", "lowest belief allowed", 0, 1),)
    short_forms: ClassVar[tuple[str, ...]] = ("epsilon_negative",)
    by_default: ClassVar[bool] = False

    def limits(self) -> tuple[Limit, ...]:
        """Too sure that not."""
        return (Limit("<", Fraction(self.values["epsilon"])),)

    def levels_of(self, belief: FoundBelief) -> dict[str, Number | None]:
        """The lowest belief first."""
        return {"lowest": belief.lowest, "posterior": belief.highest}


def _compares(value: Fraction, operator: str, limit: Fraction) -> bool:
    return value > limit if operator == ">" else value < limit


# (c,k)-safety: the worst that an attacker with k pieces of knowledge can learn about anybody.

MAX_KNOWLEDGE = 200
"""The largest number of pieces of knowledge that anybody can ask for."""
MAX_ALONE = 3
"""Up to so many pieces of knowledge one SELECT writes maximum disclosure out."""
MAX_CLASSES = 20_000
"""Up to this many signatures are listed to find the failing classes again."""


class WorstCaseSafety(SignatureModel):
    """The maximum disclosure against any k basic implications stays below c."""

    name: ClassVar[str] = "c_k_safety"
    title: ClassVar[str] = "(c,k)-safety"
    definition: ClassVar = (
        "Maximum disclosure < c: no k basic implications (if these people have these values, one of those has one of "
        "those) give any statement 'this person has this value' a probability of c or more."
    )
    reference: ClassVar[str] = (
        "Martin, Kifer, Machanavajjhala, Gehrke, Halpern: Worst-Case Background Knowledge, ICDE 2007"
    )
    note: ClassVar[str] = "A group fails when the value of a person in it can be disclosed with probability c or more."
    operator: ClassVar[str] = "<"
    parameters: ClassVar = (
        Parameter("c", "decimal", "probability that must stay out of reach", 0, 1),
        Parameter("k", "integer", "pieces of knowledge", 0, MAX_KNOWLEDGE, default=3),
    )
    short_forms: ClassVar = ("disclosure", "maximum_disclosure")

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, Any], inputs: Mapping[str, object]) -> str:
        """Return why there is no single SELECT: the statement grows fast with k."""
        pieces = int(parameters.get("k", 3))
        if pieces <= MAX_ALONE:
            return ""
        return f"one SELECT covers k up to {MAX_ALONE}; {command('audit')} takes k = {pieces}."

    def pieces(self) -> int:
        """k."""
        return int(self.values["k"])

    def judge_signatures(self, signatures: Signatures) -> Judgement:
        """The maximum disclosure at k, and the classes whose own disclosure reaches c."""
        from sqlaudit.models.disclosure.few import disclosure_points

        if not len(signatures):
            return Judgement({"disclosure": None, "negated": None})
        k = self.knowledge()
        point = disclosure_points(signatures, k)[k]
        levels = {"disclosure": point.maximum, "negated": point.negated}
        if not self.is_required:
            return Judgement(levels)
        from sqlaudit.models.disclosure.program import class_disclosure

        by_class = class_disclosure(signatures, k)
        limit = Fraction(self.values["c"])
        (short,) = by_class.failing(limit).nonzero()
        judgement = Judgement(levels, by_class.failing_classes(limit), by_class.failing_rows(limit))
        if len(short) <= MAX_CLASSES:
            return replace(judgement, listing=self._listing(by_class, short))
        if len(short) == len(signatures):
            return replace(judgement, listing=AllClassesListing())
        unnamed = f"has classes with more than {MAX_CLASSES:,} different counts that fail, too many to find again"
        return replace(judgement, unnamed=unnamed)

    def _listing(self, disclosures: ClassDisclosure, short: IntArray) -> SignatureListing:
        """The signatures at some positions, each with its disclosure."""
        depth = min(disclosures.signatures.k + 1, self.table.distinct)

        def relation() -> str:
            rows = []
            for position, disclosure in zip(short.tolist(), disclosures.approximate[short].tolist(), strict=True):
                n, counts = disclosures.signatures.signature(position)
                rows.append((":".join(map(str, (n, *counts[:depth]))), disclosure))
            return expression("listed_signatures", rows=rows)

        return SignatureListing(relation, depth, "disclosure")
