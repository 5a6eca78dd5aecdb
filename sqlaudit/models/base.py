"""What a privacy model is: it names the facts it needs, says when a class falls short, and judges what comes back.

A model never sees a connection. It is made for one sensitive attribute with its parameters, and then asked for facts,
levels and predicates; what the database answers is judged in Python. Where a predicate in floating point is too close
to its limit, `doubtful` says so and `holds` decides the few classes concerned exactly, from their counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Statement
from sqlaudit.base.result import Number
from sqlaudit.base.sql import environment
from sqlaudit.base.words import spelled
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame, Level, SensitiveTable
from sqlaudit.classes.found import ClassSizes
from sqlaudit.classes.listing import Listing, ToldOfClass

if TYPE_CHECKING:
    from sqlaudit.classes.signatures import Signatures
    from sqlaudit.models.persons import PersonsFacts

BAND = 1e-9
"""Relative width of the band around a limit inside which floats do not decide."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a model: a whole number, an exact decimal, or a text.

    `default` is used when nothing is required; a parameter without one must be given.
    """

    name: str
    kind: str
    help: str
    minimum: Fraction | None = None
    maximum: Fraction | None = None
    default: Any = None


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
    """What a model found over all classes: its numbers, and the classes and rows that fall short (None = not asked)."""

    levels: Mapping[str, Number | None]
    failing_classes: int | None = None
    failing_rows: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    at_limit: str = ""
    """SQL over facts: the classes that `failing` leaves out and that exact arithmetic found to fall short."""
    listing: Listing | None = None
    """What names the classes that fall short where no fact does."""
    unnamed: str = ""
    """Why nothing names them, where that is so: what a sentence about the requirement goes on with."""
    undecided: bool = False
    """Whether the level alone does not decide, as it is an estimate near the limit."""


class Model:
    """Base of all privacy models. Subclasses say what they are in class attributes; `registry.py` has them all."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    definition: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    note: ClassVar[str] = ""
    operator: ClassVar[str] = ">="
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    short_forms: ClassVar[tuple[str, ...]] = ()
    main: ClassVar[str] = ""
    """The parameter that a requirement written as `name=number` sets."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Names of further inputs without which the model cannot be evaluated."""
    needs_order: ClassVar[bool] = False
    """True when the sensitive values must have an order: a natural one, or one given as input `order`."""
    needs_sensitive: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
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
    by_figures: ClassVar[bool] = True
    """Whether the statement that all models share answers it."""
    by_combinations: ClassVar[bool] = False
    """Whether Python decides it from the combinations of its facts."""
    by_signatures: ClassVar[bool] = False
    """Whether the distinct signatures of all classes decide it together."""
    recipe: ClassVar[str] = "facts"
    """How one SELECT carries it, where one does: by its facts, or as a kind of models has it."""
    by_counts: ClassVar[bool] = False
    """Whether `holds` decides any class from the counts of its values, and nothing else of the table matters."""
    of_cells: ClassVar[bool] = False
    """Whether it is a rule for the cells of published tables, and not about rows of persons."""
    own_statements: ClassVar[bool] = False
    """Whether it brings statements of its own, which may look at other tables."""
    needs_entity: ClassVar[bool] = False
    """Whether it needs to know which person a row is about."""
    of_persons: ClassVar[bool] = False
    """Whether what persons' events tell decides it, and no class of rows."""
    of_releases: ClassVar[bool] = False
    """Whether several releases of one table decide it, and no table alone."""

    def __init__(self, parameters: Mapping[str, Any], context: Context) -> None:
        self.given = dict(parameters)
        self.values = {p.name: parameters.get(p.name, p.default) for p in self.parameters}
        self.context = context
        self.prepare()

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
        """Why one SELECT alone cannot carry it exactly with these parameters and inputs; empty = it can."""
        listed = " and ".join(cls.needs)
        return f"{listed} name sensitive values, and the SQL would hold them." if listed else ""

    @classmethod
    def how_to_give(cls, needs: Sequence[str]) -> str:
        """What to do about further inputs that are missing, as a sentence about a requirement goes on."""
        return f"needs {' and '.join(needs)}; give them in a file with {spelled('inputs')}"

    def prepare(self) -> None:
        """Check parameters against the table; raise `UsageError` with both values."""

    def judge(self, answers: Answers) -> Judgement:
        """What was found over all classes."""
        return answers.folded(self)

    def told(self) -> tuple[ToldOfClass, ...]:
        """What it tells of a class that falls short, besides those facts of it that are shown anyway."""
        return ()

    @property
    def facts_tell(self) -> bool:
        """Whether it looks at nothing but the sizes and facts of classes."""
        return not (self.by_signatures or self.own_statements)

    @property
    def of_table(self) -> bool:
        """Whether it is about the table as a whole, and about single classes at most besides."""
        return self.verdict_by_level or self.by_signatures

    @property
    def table(self) -> SensitiveTable:
        """The sensitive attribute over the whole table."""
        if self.context.table is None:
            raise UsageError(f"{self.name} needs a sensitive attribute; name one with {spelled('sensitive')}.")
        return self.context.table

    @property
    def required(self) -> Number | None:
        """The limit of a requirement, None when only the level is asked for."""
        value = self.given.get(self.main)
        return value if isinstance(value, int | Fraction) else None

    @property
    def is_required(self) -> bool:
        """Whether a verdict is asked for."""
        return bool(self.given)

    def shown_parameters(self) -> dict[str, Any]:
        """The parameters besides the limit, for reports."""
        return {k: v for k, v in self.values.items() if k != self.main and v is not None}

    def facts(self) -> tuple[Fact, ...]:
        """The facts of a class that levels and predicates speak of (besides size, n)."""
        return ()

    def levels(self) -> dict[str, Level]:
        """What is reported, the main number first."""
        return {}

    def failing(self) -> str:
        """SQL over facts: true for a class that falls short (and is not `doubtful`); empty = nothing to judge."""
        return ""

    def doubtful(self) -> str:
        """SQL over facts: true for a class that floats cannot tell; empty = never."""
        return ""

    def holds(self, counts: Mapping[int, int]) -> bool:
        """Whether a class with these counts (lane to rows) satisfies the model, exactly."""
        raise NotImplementedError(self.name)

    def decided(self, size: int, counts: Sequence[int]) -> bool | None:
        """What `holds` says of every class of this size whose values are drawn from one with these counts, largest
        first; None where that depends on the draw. For models `by_counts`."""
        return None

    def falls_short(self, combination: Sequence[Any]) -> bool:
        """Whether a class with this combination of its facts falls short, where combinations decide."""
        raise NotImplementedError(self.name)

    def level_by_sizes(self, sizes: ClassSizes) -> Number | None:
        """The main number, where the sizes of the classes tell it."""
        return None

    def pieces(self) -> int:
        """How many pieces of knowledge an attacker has; 0 where the model is not about knowledge."""
        return 0

    def knowledge(self) -> int:
        """How many of them decide."""
        return 0

    def unit(self) -> int:
        """How many distances a distance adds up."""
        return 1

    def conclude(self, levels: dict[str, Any]) -> dict[str, Number | None]:
        """The reported numbers from what the database gave (already folded over all classes)."""
        return {name: None if value is None else number(value) for name, value in levels.items()}


def number(value: Any) -> Number:
    """A database's number as int or float."""
    if isinstance(value, int | Fraction):
        return value
    as_float = float(value)
    return int(as_float) if not isinstance(value, float) and as_float.is_integer() else as_float


def expression(macro: str, **arguments: Any) -> str:
    """A level or predicate over facts: a macro of `_levels.sql` with whole numbers and names of facts."""
    return str(getattr(environment().get_template("models/_levels.sql").module, macro)(**arguments))


def band(limit: float) -> tuple[float, float]:
    """The interval around a limit in which exact arithmetic decides."""
    width = BAND * max(1.0, abs(limit))
    return limit - width, limit + width


@dataclass(frozen=True)
class StatedPerson:
    """One person of the population, named by the quasi-identifiers before generalization.

    Args:
        numbers: of each whether it holds numbers. values: what each is compared with, as parameters of a statement.
        place: where the user wrote them. shown: whether sensitive values may be named beside the beliefs in them.
    """

    numbers: tuple[bool, ...]
    values: tuple[Any, ...]
    place: str
    shown: bool


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


class Ask(Protocol):
    """Runs a statement, whose $1, $2, … are the parameters, and keeps its rows for the next model."""

    def __call__(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows."""


@dataclass(frozen=True)
class Question:
    """What a model that brings statements of its own may use; `ask` runs one and keeps its rows for the next model."""

    histogram: ClassHistogram
    frame: Frame
    population: Population | None
    ask: Ask

    @property
    def dialect(self) -> str:
        """What statements are rendered for."""
        return self.histogram.engine.dialect


class Answers(Protocol):
    """What the database answered of the classes, or answers on behalf of one model."""

    @property
    def question(self) -> Question:
        """What statements of a model's own may use."""

    @property
    def sizes(self) -> ClassSizes:
        """The sizes of all classes."""

    @property
    def signatures(self) -> Signatures | None:
        """The signatures of all classes, for the most pieces of knowledge that any model asks about."""

    @property
    def persons(self) -> PersonsFacts | None:
        """What was counted of persons and their events, where a model asks for it."""

    def folded(self, model: Model) -> Judgement:
        """The model's levels folded over the classes, and what falls short, at a limit exactly."""

    def counted(self, model: Model, judgement: Judgement) -> Judgement:
        """The judgement with the classes and rows that the database found to fall short."""

    def combinations(self, model: Model) -> Sequence[tuple[Any, ...]]:
        """(facts…, classes, rows) of every combination of the model's facts, or one more than can be judged."""
