"""What a privacy model is, what a check of it is, and the models of equivalence classes by how they are decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from sqlaudit.base import result as base
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.spec import KnownRows
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame, Level, SensitiveTable, Signatures
from sqlaudit.classes.failing import ClassFigure, ClassListing, ClassSizes, level_macro

if TYPE_CHECKING:  # few audits count people
    from sqlaudit.engines.contract import Engine
    from sqlaudit.models.people import PeopleFigures

# What a privacy model is: it names the facts it needs, says when a class fails, and judges what comes back.
#
# A model never sees a connection. It is made for one sensitive attribute with its parameters, and then asked for facts,
# levels and predicates; what the database answers is judged in Python. Where a predicate in floating point is too close
# to its limit, `doubtful` says so and `holds` decides the few classes concerned exactly, from their counts.

expression = level_macro
"""A level or predicate over facts."""
BAND = 1e-9
"""Relative width of the band around a limit inside which floats do not decide."""
MAX_VECTORS = 200_000
"""At most so many different count vectors are decided one by one; beyond, the check stays undetermined."""
MAX_COMBINATIONS = 200_000
"""At most so many combinations of facts are judged in Python; beyond, the check stays undetermined."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a model: a whole number, an exact decimal, or a text.

    `default` is used when nothing is required; a parameter without one must be given.
    """

    name: str
    kind: str
    help: str
    minimum: int | None = None
    maximum: int | None = None
    default: object = None


@dataclass(frozen=True)
class Context:
    """What a model may know: the sensitive attribute over the table, the table's rows, and further inputs by name.

    `beside` names all models that are required together.
    """

    table: SensitiveTable | None
    rows: int
    inputs: Mapping[str, Any] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Judgement:
    """What a model found over all classes: its numbers, and the classes and failing rows (None = not asked)."""

    levels: Mapping[str, base.Number | None]
    failing_classes: int | None = None
    failing_rows: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    at_limit: str = ""
    """SQL over facts: the classes that `failing` leaves out and that exact arithmetic found to fail."""
    listing: ClassListing | None = None
    """What names the failing classes where no fact does."""
    unnamed: str = ""
    """Why nothing names them, where that is so: what a sentence about the requirement goes on with."""
    undecided: bool = False
    """Whether nothing passes by this judgement, as an estimate alone meets the limit."""


class Model:
    """Base of all privacy models; `registry.py` has them all.

    There are five kinds, each with a base class: `ClassModel` (equivalence classes), `PersonsModel` (people with many
    rows), `CellRule` (cells of published tables), `SeriesModel` (several releases) and `SyntheticModel` (synthetic
    data). A base class sets what follows from the kind; a model adds what is true of it alone.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    definition: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    note: ClassVar[str] = ""
    operator: ClassVar[str] = ">="
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    short_forms: ClassVar[tuple[str, ...]] = ()
    main: ClassVar[str] = ""
    """The parameter that a requirement written as `name=number` sets: the first, where nothing else is said."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Names of further inputs without which the model cannot be evaluated."""
    needs_order: ClassVar[bool] = False
    """True when the sensitive values must have an order: a natural one, or one given as input `order`."""
    needs_sensitive: ClassVar[bool] = True
    needs_entity: ClassVar[bool] = False
    """Whether it needs to know which person a row is about."""
    by_default: ClassVar[bool] = False
    """Whether the model is reported when nothing is required."""
    inherited: ClassVar[bool] = True
    """Whether the model stays satisfied when classes merge."""
    inherited_with_limit: ClassVar[bool] = False
    """Whether it stays so with a suppression limit too."""
    verdict_by_level: ClassVar[bool] = False
    """True for a figure of the whole table: the level itself is compared with the limit, no class is to blame."""
    one_value_per_person: ClassVar[bool] = False
    """Whether the model is only defined when a person has one class and one sensitive value."""
    wildcard: ClassVar[bool] = False
    """Whether the model has a meaning when NULL matches any value."""
    by_figures: ClassVar[bool] = False
    """Whether the statement that all models share answers it."""
    by_combinations: ClassVar[bool] = False
    """Whether Python decides it from the combinations of its facts."""
    by_counts: ClassVar[bool] = False
    """Whether `holds` decides any class from the counts of its values, and nothing else of the table matters."""
    own_statements: ClassVar[bool] = True
    """Whether it needs further statements besides those on the classes of the table."""
    joins_rows: ClassVar[bool] = False
    """Whether one of these reads the classes together with the rows, so that one engine must have both."""
    counts_people: ClassVar[bool] = False
    """Whether it counts people and their events, so that people fail, and not rows or classes."""
    known_rows: ClassVar[tuple[KnownRows, ...]] = ()
    """The attackers for whom it is judged: who know one row of a person, or all. Empty where that is no difference."""
    recipe: ClassVar[str] = "facts"
    """How one SELECT carries it, where one does."""
    class_minimum: ClassVar[str] = ""
    """What it requires so many of in every class, and nothing else: `rows` or `values`."""
    inference: ClassVar[str] = ""
    """What its level says about the sensitive value of a person, in reports by criteria."""

    def __init_subclass__(cls) -> None:
        if "parameters" in cls.__dict__ and "main" not in cls.__dict__:
            cls.main = cls.parameters[0].name

    def __init__(self, parameters: Mapping[str, Any], context: Context) -> None:
        self.stated_parameters = dict(parameters)
        self.values = {p.name: parameters.get(p.name, p.default) for p in self.parameters}
        self.context = context
        self.prepare()

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, object], inputs: Mapping[str, object]) -> str:
        """Return why one SELECT alone cannot carry it exactly with these parameters and inputs; empty = it can."""
        needs = " and ".join(cls.needs)
        return f"{needs} name sensitive values, which must not appear in SQL." if needs else ""

    @classmethod
    def how_to_give(cls, needs: Sequence[str]) -> str:
        """Return what to do about further inputs that are missing, as a sentence about a requirement goes on."""
        return f"needs {' and '.join(needs)}; give them in a file with {spelled('inputs')}"

    def prepare(self) -> None:
        """Check parameters against the table; raise `UsageError` with both values."""

    def judge(self, answers: Answers) -> Judgement:
        """Return what was found over all classes."""
        return answers.folded(self)

    def class_figures(self) -> tuple[ClassFigure, ...]:
        """Return what it tells of a class that fails, besides those facts of it that are shown anyway."""
        return ()

    @classmethod
    def level_range(cls, classes: int, rows: int) -> tuple[float, float]:
        """Return the least and the largest main number that so many rows in so many classes can have."""
        least = next(parameter.minimum for parameter in cls.parameters if parameter.name == cls.main)
        counts_members = cls.operator == ">=" and least == 1 and cls.recipe in ("facts", "persons")
        return 0, rows / classes if counts_members else math.inf

    @classmethod
    def population_rows(cls, check: Check, sizes: ClassSizes) -> Iterator[tuple[str, str, str, str]]:
        """Yield what a check estimates of the population: its name, in the sample, in the population, its bias."""
        yield from ()

    @classmethod
    def population_sentence(cls, check: Check, amount: Callable[[int], str]) -> tuple[str, str] | None:
        """Return the name and the text of what a check estimates of the population, for reports by criteria.

        Args:
            check: of this model. amount: how to write a number of people.
        """
        return None

    def why_not_by_class(self) -> str:
        """Return why single classes cannot be judged by it, as a sentence about it goes on; empty if they can be."""
        return ""

    def select_parameters(self) -> dict[str, object]:
        """Return what the one SELECT over people takes, where it counts people."""
        raise NotImplementedError(self.name)

    @property
    def facts_tell(self) -> bool:
        """Return True if it looks at nothing but the sizes and facts of classes."""
        return not self.own_statements and self.pieces() is None

    @property
    def of_table(self) -> bool:
        """Return True if it is about the table as a whole, and about single classes at most besides."""
        return self.verdict_by_level or self.pieces() is not None

    @property
    def table(self) -> SensitiveTable:
        """The sensitive attribute over the whole table."""
        if self.context.table is None:
            raise UsageError(f"{self.name} needs a sensitive attribute; name one with {spelled('sensitive')}.")
        return self.context.table

    @property
    def required(self) -> base.Number | None:
        """The limit of a requirement, None when only the level is asked for."""
        value = self.stated_parameters.get(self.main)
        return value if isinstance(value, int | Fraction) else None

    @property
    def is_required(self) -> bool:
        """Return True if a verdict is asked for."""
        return bool(self.stated_parameters)

    def shown_parameters(self) -> dict[str, object]:
        """Return the parameters besides the limit, for reports."""
        return {k: v for k, v in self.values.items() if k != self.main and v is not None}

    def facts(self) -> tuple[Fact, ...]:
        """Return the facts of a class that levels and predicates use, apart from its size n."""
        return ()

    def levels(self) -> dict[str, Level]:
        """Return what is reported, the main number first."""
        return {}

    def failing(self) -> str:
        """Return the SQL condition over facts for a class that fails and is not `doubtful`; empty if there is nothing
        to judge."""
        return ""

    def doubtful(self) -> str:
        """Return the SQL condition over facts for a class that floats cannot decide; empty = never."""
        return ""

    @property
    def fewest(self) -> int | None:
        """The rows (contributors of a cell) that suffice to meet the model, if nothing else matters; else None."""
        return None

    def holds(self, counts: Mapping[int, int]) -> bool:
        """Return True if a class with these counts (lane to rows) satisfies the model, exactly."""
        raise NotImplementedError(self.name)

    def verdict_by_counts(self, size: int, counts: Sequence[int]) -> bool | None:
        """Return the value of `holds` for every class of this size whose values are drawn from one with these counts,
        largest first; None where it depends on the draw. For models `by_counts`."""
        return None

    def falls_short(self, combination: Sequence[object]) -> bool:
        """Return True if a class with this combination of its facts fails, where combinations decide."""
        raise NotImplementedError(self.name)

    def level_by_sizes(self, sizes: ClassSizes) -> base.Number | None:
        """Return the main number if the sizes of the classes determine it."""
        return None

    def pieces(self) -> int | None:
        """Return how many pieces of knowledge an attacker has; None where the model is not about knowledge."""
        return None

    def knowledge(self) -> int:
        """Return how many of them decide."""
        return 0

    def unit(self) -> int:
        """Return how many distances a distance adds up."""
        return 1

    def conclude(self, levels: dict[str, object]) -> dict[str, base.Number | None]:
        """Return the reported numbers from those of the database, already folded over all classes."""
        return {name: None if value is None else number(value) for name, value in levels.items()}


def number(value: Any) -> base.Number:
    """Return a database's number as int or float."""
    if isinstance(value, int | Fraction):
        return value
    as_float = float(value)
    return int(as_float) if not isinstance(value, float) and as_float.is_integer() else as_float


def band(limit: float) -> tuple[float, float]:
    """Return the interval around a limit in which exact arithmetic decides."""
    width = BAND * max(1.0, abs(limit))
    return limit - width, limit + width


@dataclass(frozen=True)
class StatedPerson:
    """One person of the population, named by the quasi-identifiers before generalization.

    Args:
        numbers: of each whether it holds numbers. values: what each is compared with, as parameters of a statement.
        place: where the user wrote them. show_values: whether sensitive values may be named beside the beliefs in them.
    """

    numbers: tuple[bool, ...]
    values: tuple[object, ...]
    place: str
    show_values: bool


@dataclass(frozen=True)
class Population:
    """A population table: a FROM item, and the expressions of the audit over it, in the engine's dialect.

    Args:
        source: the FROM item.
        keys: the quasi-identifiers, as in the audited table. original: the quasi-identifiers before generalization.
        sensitive: the sensitive attribute, None when no model asks for it.
        entity: the persons' column, None when a row is a person. person: whose beliefs are told, if anybody's.
    """

    source: str
    keys: tuple[str, ...]
    entity: str | None = None
    sensitive: str | None = None
    original: tuple[str, ...] = ()
    person: StatedPerson | None = None


@dataclass(frozen=True)
class Question:
    """What a model that brings statements of its own may use."""

    histogram: ClassHistogram
    frame: Frame
    population: Population | None
    _rows: dict[tuple[str, tuple[object, ...]], list[Row]] = field(default_factory=dict)

    def ask(self, statement: Statement, parameters: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a statement over the table, with the parameters $1, $2, …. They are stored, as the next
        model may run the same one."""
        key = (statement.sql, tuple(parameters))
        if key not in self._rows:
            self._rows[key] = self._engine.run(statement, parameters)
        return self._rows[key]

    @property
    def dialect(self) -> str:
        """Return what statements are rendered for."""
        return self._engine.dialect

    @property
    def _engine(self) -> Engine:
        """The engine that has the rows of the table."""
        return self.histogram.rows_engine or self.histogram.engine


@dataclass(frozen=True)
class Answers:
    """What the database answered of the classes.

    Args:
        sizes: of all classes. rows: of the statement that models share, whose columns name `models` by their places.
        signatures: of all classes, for the most pieces of knowledge that any model asks about.
        persons: what was counted of persons and their events, where a model asks for it.
    """

    question: Question
    sizes: ClassSizes
    rows: Sequence[dict[str, Any]]
    models: Sequence[Model]
    signatures: Signatures | None
    persons: PeopleFigures | None

    def folded(self, model: Model) -> Judgement:
        """Return the model's levels folded over the classes, and what fails, exactly at a limit."""
        prefix = self._prefix(model)
        folded: dict[str, object] = {}
        for name, level in model.levels().items():
            values = [row[f"{prefix}_{name}"] for row in self.rows if row[f"{prefix}_{name}"] is not None]
            folded[name] = (min if level.fold == "MIN" else max)(values, default=None)
        judgement = self.counted(model, Judgement(model.conclude(folded)))
        doubtful = sum(int(row.get(f"{prefix}_doubtful", 0)) for row in self.rows)
        return self._decided(model, judgement) if doubtful else judgement

    def counted(self, model: Model, judgement: Judgement) -> Judgement:
        """Return the judgement with the classes and rows that fail according to the shared statement."""
        if not model.is_required or not model.failing():
            return judgement
        prefix = self._prefix(model)
        classes, rows = (sum(int(row[f"{prefix}_{what}"]) for row in self.rows) for what in ("classes", "rows"))
        return replace(judgement, failing_classes=classes, failing_rows=rows)

    def combinations(self, model: Model) -> list[Row]:
        """Return (facts…, classes, rows) of every combination of the model's facts, or one more than can be judged."""
        return self.question.histogram.histogram(model.facts(), limit=MAX_COMBINATIONS + 1)

    def _prefix(self, model: Model) -> str:
        return f"m{self.models.index(model)}"

    def _decided(self, model: Model, judgement: Judgement) -> Judgement:
        """Return the judgement with the classes at the limit included, each decided exactly from its counts."""
        vectors = self.question.histogram.vectors(model.facts(), model.doubtful(), MAX_VECTORS)
        if len(vectors) == MAX_VECTORS:
            note = "too many classes lie within float error of the limit to decide"
            return replace(judgement, failing_classes=None, failing_rows=None, note=note)
        short = [vector for vector in vectors if not model.holds(vector[0])]
        at_limit = model.doubtful() if short else ""
        if 0 < len(short) < len(vectors):
            # classes at the limit that hold and others that do not have different sizes, unless they are very large
            sizes = sorted({sum(counts.values()) for counts, _, _ in short})
            at_limit = expression("of_sizes", condition=at_limit, sizes=sizes)
        return replace(
            judgement,
            failing_classes=(judgement.failing_classes or 0) + sum(classes for _, classes, _ in short),
            failing_rows=(judgement.failing_rows or 0) + sum(rows for _, _, rows in short),
            at_limit=at_limit,
        )


# One requirement or model, judged; and checks of what no model sees.

IDENTIFIER, COLUMNS_NAMED, SAFE_HARBOR = "direct_identifier", "all_columns_named", "safe_harbor"
COLUMN_SETS = "column_sets"
_CHECKS_OF_COLUMNS = (IDENTIFIER, COLUMNS_NAMED, SAFE_HARBOR, COLUMN_SETS)

WORST_FIRST = (base.Status.FAIL, base.Status.UNDETERMINED, base.Status.WARN, base.Status.PASS, None)


@dataclass(frozen=True)
class OfKnownRows(base.Documented):
    """What a check finds for someone who knows one row of a person, or all: as the check has it."""

    level: base.Number | None
    status: base.Status | None
    failing_classes: int | None
    failing_rows: int | None
    failing_share: Annotated[float, base.FROM_0_TO_1] | None


@dataclass(frozen=True)
class ByKnownRows(base.Documented):
    """A check for someone who knows one row of a person, and for someone who knows all of them.

    Args:
        worse: which of them the check itself is. one, all: what is found for each.
    """

    worse: Annotated[KnownRows, Literal["one", "all"]]
    one: OfKnownRows
    all: OfKnownRows


@dataclass(frozen=True)
class Check(base.Documented):
    """One model on one sensitive attribute: the level achieved and, when required, the verdict.

    Args:
        model: the model's name, as `sqlaudit models` lists it.
        sensitive: the sensitive attribute, None for models that need none.
        parameters: the model's parameters besides the limit.
        level: the main number; None when undefined. Infinity is `math.inf`, in JSON null beside `infinite`.
        levels: every number that the model reports, the main one first.
        operator: how level and limit compare when the requirement holds.
        required: the limit, None when nothing was required. status: the verdict, None when nothing was required.
        failing_classes, failing_rows: what fails; None when nothing was required, and for figures of the whole
            table. failing_share: failing_rows as a share of the table. details: further figures of the model.
        note: which definition was used, or why nothing can be said.
        known_rows: where persons have several rows that tell more than one: what is found for someone who knows one
            row of a person, and for someone who knows all of them. The check itself is the worse.
        text: the requirement as the user wrote it. title: the model's name for people, empty = made from `model`.
        preset: the published rule that requires it.
    """

    model: base.Code
    sensitive: str | None
    parameters: Mapping[str, Any]
    level: base.Number | None
    levels: Mapping[str, base.Number | None]
    operator: base.Operator
    required: base.Number | None = None
    status: base.Status | None = None
    failing_classes: int | None = None
    failing_rows: int | None = None
    failing_share: Annotated[float, base.FROM_0_TO_1] | None = None
    severity: base.Severity = "error"
    text: str = field(default="", metadata=base.LEFT_OUT)
    note: str = field(default="", metadata=base.IF_ANY | base.after("title"))
    details: Mapping[str, Any] = field(default_factory=dict, metadata=base.IF_ANY | base.after("note"))
    title: str = field(default="", metadata=base.IF_ANY)
    known_rows: ByKnownRows | None = field(default=None, metadata=base.IF_ANY)
    preset: str = field(default="", compare=False, metadata=base.IF_ANY)

    @property
    def of_columns(self) -> str:
        """The name of the check where it is one of columns, such as Safe Harbor; empty for a check of a model."""
        return self.model if self.model in _CHECKS_OF_COLUMNS else ""

    @base.told("severity", base.key("infinite") | base.IF_ANY)
    def _infinite(self) -> bool:
        """True if the level is infinity."""
        return isinstance(self.level, float) and math.isinf(self.level)


class WithVerdict:
    """A result whose verdict is the worst of its checks."""

    __slots__ = ()

    checks: tuple[Check, ...]

    @property
    @base.told("checks", base.IF_ANY)
    def status(self) -> base.Status | None:
        """The worst verdict among the requirements, None when nothing was required."""
        verdicts = {check.status for check in self.checks}
        return next((status for status in WORST_FIRST if status in verdicts), None)

    @property
    def passed(self) -> bool:
        """True if no requirement failed or is undetermined."""
        return self.status in (None, base.Status.PASS, base.Status.WARN)


# Models of equivalence classes, and those of them that the figures of the common statement do not answer, or not alone.


class ClassModel(Model):
    """A model of equivalence classes: rows that have the same quasi-identifiers, with their sensitive values."""

    by_default: ClassVar[bool] = True
    by_figures: ClassVar[bool] = True
    own_statements: ClassVar[bool] = False
    known_rows: ClassVar[tuple[KnownRows, ...]] = (KnownRows.ONE, KnownRows.ALL)

    def why_not_by_class(self) -> str:
        """Return why no class alone decides the model; empty if classes do."""
        if self.own_statements:
            return (
                "compares classes with another table, where locally recoded classes have no counterpart. Use lattice."
            )
        if self.of_table:
            return "is about the whole table, not about single classes. Use lattice, or a requirement on classes."
        return ""


class SizeModel(ClassModel):
    """A model that only the sizes of classes decide; judged in Python from the class-size histogram."""

    needs_sensitive: ClassVar[bool] = False
    recipe: ClassVar[str] = "sizes"
    figure: ClassVar[str] = "share_where"
    """Its figure of the whole table in one SELECT; with `_above`, the predicate against a limit."""

    def judge(self, answers: Answers) -> Judgement:
        """Judge from the sizes; the statement that all models share determines which classes fail."""
        return answers.counted(self, self.judge_sizes(answers.sizes))

    def level_by_sizes(self, sizes: ClassSizes) -> base.Number | None:
        """Return the main number."""
        return next(iter(self.judge_sizes(sizes).levels.values()))

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """Return the judgement from the sizes of all classes."""
        raise NotImplementedError(self.name)


class SignatureModel(ClassModel):
    """A model that the distinct signatures of the classes decide: their rows and their largest counts."""

    one_value_per_person: ClassVar[bool] = True
    by_figures: ClassVar[bool] = False
    recipe: ClassVar[str] = "disclosure"

    def judge(self, answers: Answers) -> Judgement:
        """Judge from the signatures."""
        assert answers.signatures is not None
        return self.judge_signatures(answers.signatures)

    def pieces(self) -> int:
        """Return how many pieces of knowledge an attacker has."""
        raise NotImplementedError(self.name)

    def knowledge(self) -> int:
        """Return the number of counts that decide. With as many pieces as there are values all is certain, so one more
        is needed."""
        return min(self.pieces(), self.table.distinct)

    def judge_signatures(self, signatures: Signatures) -> Judgement:
        """Return the judgement from all signatures, which suffice for `knowledge` or more."""
        raise NotImplementedError(self.name)


class HistogramModel(ClassModel):
    """A model that is judged in Python from how many classes have each combination of its facts.

    Only for facts with few combinations (presence of values, first and last rank): what returns must not grow with
    the rows. A judgement's `at_limit` names the failing classes, where that is a short piece of SQL.
    """

    by_figures: ClassVar[bool] = False
    by_combinations: ClassVar[bool] = True

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, object], inputs: Mapping[str, object]) -> str:
        """Return why there is no single SELECT: Python decides."""
        return "a cover is searched for in Python, once the database has found which values occur together."

    def judge(self, answers: Answers) -> Judgement:
        """Judge from the combinations, unless there are too many."""
        rows = answers.combinations(self)
        if len(rows) > MAX_COMBINATIONS:
            many = f"more than {MAX_COMBINATIONS:,} different combinations of values"
            return Judgement({self.main: None}, None, None, note=f"the classes have {many}, too many to decide")
        return self.judge_histogram(rows)

    def falls_short(self, combination: Sequence[object]) -> bool:
        """Return True if a class with this combination of its facts fails."""
        return bool(self.judge_histogram([(*combination, 1, 1)]).failing_classes)

    def judge_histogram(self, rows: Sequence[tuple[object, ...]]) -> Judgement:
        """Return the judgement from (facts…, classes, rows) tuples."""
        raise NotImplementedError(self.name)


class QueryModel(ClassModel):
    """A model that no class fact can carry: it brings statements of its own."""

    by_figures: ClassVar[bool] = False
    own_statements: ClassVar[bool] = True
    known_rows: ClassVar[tuple[KnownRows, ...]] = (KnownRows.ONE,)

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, object], inputs: Mapping[str, object]) -> str:
        """Return why there is no single SELECT: the model needs further statements."""
        return "figures at its limit are decided exactly in Python with further statements; one SELECT cannot do that."

    def population(self, question: Question, *, sensitive: bool = False) -> Population:
        """Return the population, whose classes (with the sensitive attribute) are matched with those of the table.

        Raises:
            UsageError: there is no population (with the attribute), or missing values equal nothing, so that classes
                with them match none.
        """
        people = question.population
        if people is None or (sensitive and people.sensitive is None) or question.frame.solo:
            raise UsageError(
                f"{self.name} matches the classes of the table with those of the population, which "
                f"{spelled('nulls', 'distinct')} "
                f"rules out: use {spelled('nulls', 'equal')}."
            )
        return people

    def judge(self, answers: Answers) -> Judgement:
        """Judge from the model's own statements."""
        return self.judge_query(answers.question)

    def judge_query(self, question: Question) -> Judgement:
        """Return the judgement from the results of the model's own statements."""
        raise NotImplementedError(self.name)


# Which groups of sensitive values occur in a class, as numbers whose bits are the groups.

WORD = 60
"""Groups that one number of the database tells apart."""
MAX_LISTED = 20_000
"""Up to this many combinations are listed in the condition that finds the failing classes again."""
TOO_MANY = f"has classes of more than {MAX_LISTED:,} kinds that fail, too many to find again"


@dataclass(frozen=True)
class Combination:
    """Groups that occur together: the numbers as the database has them, all bits in one, and where they occur."""

    words: tuple[int, ...]
    mask: int
    classes: int
    rows: int


def presence_facts(name: str, groups: Sequence[Sequence[int]]) -> tuple[Fact, ...]:
    """Return facts that show which of the groups of lanes occur, 60 groups a fact."""
    return tuple(
        Fact(
            f"{name}_{start // WORD}",
            "presence",
            {"groups": [(list(lanes), 2**bit) for bit, lanes in enumerate(groups[start : start + WORD])]},
        )
        for start in range(0, max(1, len(groups)), WORD)
    )


def combinations_of(rows: Sequence[tuple[Any, ...]]) -> list[Combination]:
    """Return the combinations in (words…, classes, rows) tuples."""
    combinations = []
    for *words, classes, table_rows in rows:
        numbers = tuple(int(word) for word in words)
        mask = sum(word << WORD * position for position, word in enumerate(numbers))
        combinations.append(Combination(numbers, mask, int(classes), int(table_rows)))
    return combinations


def decide(
    numbered: Sequence[tuple[Combination, int]], facts: Sequence[Fact], limit: int | None, main: str
) -> Judgement:
    """Judge that every combination has at least `limit`: return the lowest number, and what fails."""
    levels = {main: min((number for _, number in numbered), default=None)}
    if limit is None:
        return Judgement(levels)
    short = [combination for combination, number in numbered if number < limit]
    classes, rows = sum(combination.classes for combination in short), sum(combination.rows for combination in short)
    if len(short) > MAX_LISTED:
        return Judgement(levels, classes, rows, unnamed=TOO_MANY)
    return Judgement(levels, classes, rows, at_limit=one_of(facts, [combination.words for combination in short]))


def one_of(facts: Sequence[Fact], rows: Sequence[tuple[int, ...]]) -> str:
    """Return the SQL condition over facts that their values are those of one of the rows; empty without rows."""
    if not rows:
        return ""
    if len(facts) == 1:
        return expression("one_of", fact=facts[0].name, values=[row[0] for row in rows])
    return expression("one_of_rows", facts=[fact.name for fact in facts], rows=rows)
