"""From a privacy model to what one SELECT needs of it: facts, aggregates over classes, predicates. Or why none can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Requirement
from sqlaudit.base.sql import environment, render
from sqlaudit.classes.facts import Fact, SensitiveTable
from sqlaudit.models.base import Context, Model, SignatureModel, SizeModel, band, expression
from sqlaudit.models.closeness import OrderedTCloseness
from sqlaudit.models.diversity import head
from sqlaudit.models.functions import RangeControl
from sqlaudit.models.registry import REGISTRY
from sqlaudit.models.risk import PopulationModel

# Pieces of SQL of standalone statements, by the name of their macro.


def piece(macro: str, **arguments: object) -> str:
    """A macro of `_standalone.sql` or `_written_out.sql` with numbers, names of facts, and other pieces.

    Example:
        >>> piece("folded", fold="MIN", expression="size")
        'MIN(size)'
    """
    files = (environment().get_template(f"gates/standalone/{name}.sql") for name in ("_standalone", "_written_out"))
    modules = [file.make_module({"wide": "DECIMAL(38, 0)"}) for file in files]
    rendered = next(getattr(module, macro) for module in modules if hasattr(module, macro))
    return str(rendered(**arguments)).strip()


def statement(template: str, dialect: str, **parameters: Any) -> str:
    """The text of a statement, without the first line of its template: a script has comments of its own."""
    return render(f"gates/standalone/{template}.sql", dialect, **parameters).sql.partition("\n")[2]


def partitions(atoms: int, largest: int | None = None) -> list[list[int]]:
    """All ways to write a number as a sum of parts, largest part first.

    Example:
        >>> partitions(4)
        [[4], [3, 1], [2, 2], [2, 1, 1], [1, 1, 1, 1]]
    """
    if atoms == 0:
        return [[]]
    most = atoms if largest is None else min(largest, atoms)
    return [[part, *rest] for part in range(most, 0, -1) for rest in partitions(atoms - part, part)]


RATIO_BAND = 1e-12
"""Relative width of the band around a limit of disclosure; the products of up to five quotients err by 1e-15."""


@dataclass(frozen=True)
class Later:
    """A positive whole number that only the database will know, as SQL; products with it are SQL, too.

    Example:
        >>> str(2 * Later("total"))
        'total * 2'
    """

    sql: str

    def __str__(self) -> str:
        return self.sql

    def __mul__(self, other: object) -> Later:
        return Later(f"{self.sql} * {other}")

    __rmul__ = __mul__

    def __gt__(self, other: object) -> bool:
        """It is at least 1, and nothing else is ever compared with it: `max(1, …)`."""
        return True


class UnknownTable(SensitiveTable):
    """A sensitive attribute whose totals are columns of the statement: `total` and `value_count`."""

    @property
    def total(self) -> Any:
        """N."""
        return Later("total")

    @property
    def distinct(self) -> Any:
        """M."""
        return Later("value_count")


class NaturallyOrdered(OrderedTCloseness):
    """Ordered t-closeness over all values that occur, in their natural order."""

    def prepare(self) -> None:
        """NULLs are counted by the statement: their check stays undecided."""

    def unit(self) -> Any:
        """M − 1, at least 1."""
        return Later(piece("values_less_one"))

    def arguments(self) -> dict[str, object]:
        """The gaps are there when the fact is folded."""
        return {"order": None}


_STAND_INS: Mapping[str, type[Model]] = {NaturallyOrdered.name: NaturallyOrdered}


class NotCarried(UsageError):
    """One statement cannot carry this check exactly; the message says why."""


@dataclass(frozen=True)
class Recipe:
    """What the statement of a check is made of.

    Args:
        facts, more_facts: facts of a class, by macro of `_facts.sql` or as (name, aggregate).
        levels: (name, aggregate over the classes), the main one first.
        failing, doubtful: predicates of a class, empty = none. table_fails: the same of the whole table.
        by_value: whether sensitive values are counted. uses: see `_written_out.sql`.
        unusable: counts of what rules the check out, as subqueries.
        table_doubtful: a predicate of the whole table that floats cannot tell. where: which classes count, empty = all.
        population: whether the classes of a population stand beside those of the table.
        atoms: of maximum disclosure, 0 = another model. ordered: whether values are numbers or dates, and no texts.
    """

    facts: tuple[Fact, ...] = ()
    more_facts: tuple[tuple[str, str], ...] = ()
    levels: tuple[tuple[str, str], ...] = ()
    failing: str = ""
    doubtful: str = ""
    table_fails: str = ""
    by_value: bool = False
    uses: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()
    table_doubtful: str = ""
    where: str = ""
    population: bool = False
    atoms: int = 0
    ordered: bool = False

    def parameters(self) -> dict[str, object]:
        """As the templates take them."""
        names = ("facts", "more_facts", "by_value", "uses", "atoms", "failing", "doubtful", "unusable", "where")
        split = [partitions(atoms) for atoms in range(1, self.atoms + 1)]
        parameters = {name: getattr(self, name) for name in names}
        parameters = {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}
        return parameters | {"partitions": split}


def recipe_of(requirement: Requirement, inputs: Mapping[str, object], sensitive: str | None, *, entity: bool) -> Recipe:
    """The recipe of a requirement (or, without parameters, of a model's figures).

    Args:
        requirement: a model by name, with its parameters.
        inputs: further inputs, as `read_inputs` gives them. sensitive: the attribute's name, None when there is none.
        entity: whether rows belong to persons.

    Raises:
        NotCarried: one SELECT cannot carry the model exactly.
        UsageError: the model needs a sensitive attribute.

    Example:
        >>> recipe_of(Requirement("k_anonymity", {"k": 5}), {}, None, entity=False).failing
        'size < 5'
    """
    kind = REGISTRY[requirement.model]
    if kind.needs_sensitive and sensitive is None:
        raise UsageError(
            f"{requirement.text or kind.name!r} needs a sensitive attribute; name one with {spelled('sensitive')}."
        )
    model = model_carried(requirement, inputs, sensitive)
    recipe = _RECIPES[model.recipe](model)
    if not entity:
        return recipe
    further = [piece("count_where", relation="target", condition="e IS NULL")]
    if model.one_value_per_person:
        further.append(piece("persons_in_several_places"))
    return replace(recipe, unusable=(*recipe.unusable, *further))


def model_alone(requirement: Requirement, sensitive: str | None) -> Model:
    """The model of a requirement, where nothing is known of the table but that it has the attribute."""
    kind = _STAND_INS.get(requirement.model, REGISTRY[requirement.model])
    table = None if sensitive is None else UnknownTable(sensitive, (), has_null=False, ordered=True, text=False)
    return kind(requirement.parameters, Context(table, 0, {}))


def model_carried(requirement: Requirement, inputs: Mapping[str, object], sensitive: str | None = None) -> Model:
    """The model of a requirement that one statement carries.

    Raises:
        NotCarried: one SELECT cannot carry it.
    """
    kind = REGISTRY[requirement.model]
    if reason := kind.why_not_alone(requirement.parameters, inputs):
        raise NotCarried(f"{requirement.text or kind.name}: {reason}")
    return model_alone(requirement, sensitive)


def _general(model: Model) -> Recipe:
    """A model that facts carry."""
    levels = [
        (name, piece("folded", fold=level.fold, expression=level.expression)) for name, level in model.levels().items()
    ]
    failing, doubtful = (model.failing(), model.doubtful()) if model.is_required else ("", "")
    facts = tuple({fact.name: fact for fact in model.facts()}.values())
    ordered = any(fact.macro == "ordered_distance" for fact in facts)
    spoken = " ".join([failing, doubtful, *(aggregate for _, aggregate in levels)])
    wanted = {
        "values": ordered or "value_count" in spoken,
        "positions": any(fact.macro in ("head", "largest_l") for fact in facts),
        "gaps": ordered,
    }
    return Recipe(
        facts=facts,
        levels=tuple(levels),
        failing=failing,
        doubtful=doubtful,
        table_fails=piece("some_class") if failing else "",
        by_value=model.needs_sensitive,
        uses=tuple(name for name, used in wanted.items() if used),
        unusable=(_without_value(),) if ordered else (),
        ordered=ordered,
    )


def _sizes(model: SizeModel) -> Recipe:
    """A model that the sizes of the classes decide: figures of the whole table."""
    condition = model.failing() if model.is_required or model.verdict_by_level else ""
    about = {"condition": condition} if condition and model.verdict_by_level else {}
    fails = piece("some_class") if condition else ""
    if model.verdict_by_level:
        limit = model.required
        fails = "" if limit is None else piece(f"{model.figure}_above", limit=Fraction(limit), **about)
    return Recipe(levels=((model.main, piece(model.figure, **about)),), failing=condition, table_fails=fails)


def _population(model: PopulationModel) -> Recipe:
    """A risk against a population."""
    limit = model.values[model.main]
    levels = [(name, fold, piece(figure)) for name, fold, figure in model.figures]
    recipe = Recipe(
        levels=tuple(
            (name, piece("folded", fold=fold, expression=figure) if fold else figure) for name, fold, figure in levels
        ),
        population=True,
        where=piece("met") if model.only_met else "",
        unusable=(piece("count_where", relation="facts", condition=piece("more_than_population")),),
    )
    if limit is None:
        return recipe
    if not model.verdict_by_level:
        macro, arguments = model.short_alone()
        return replace(recipe, failing=piece(macro, **arguments), table_fails=piece("some_class"))
    (_, level), (low, high) = recipe.levels[0], band(float(limit))
    fails = expression("above", fact=level, limit=high)
    return replace(
        recipe, table_fails=fails, table_doubtful=expression("between", expression=level, low=low, high=high)
    )


def _disclosure(model: SignatureModel) -> Recipe:
    """Maximum disclosure, written out."""
    atoms = model.pieces() + 1
    levels = (
        ("disclosure", piece("folded", fold="MAX", expression=piece("disclosure"))),
        ("negated", piece("folded", fold="MAX", expression=piece("negated_disclosure"))),
    )
    failing = doubtful = ""
    if model.is_required:
        failing, doubtful = disclosure_limits(Fraction(model.values["c"]), atoms)
    return Recipe(
        facts=tuple(head(rank) for rank in range(1, atoms + 1)),
        levels=levels,
        failing=failing,
        doubtful=doubtful,
        table_fails=piece("some_class") if failing else "",
        by_value=True,
        uses=("positions",),
        atoms=atoms,
    )


def disclosure_limits(c: Fraction, atoms: int) -> tuple[str, str]:
    """Predicates of a class whose disclosure is at least c, and of one that floats cannot tell."""
    if c == 0:
        return "1 = 1", ""
    limit = (1 - c) / c
    low, high = float(limit) * (1 - RATIO_BAND), float(limit) * (1 + RATIO_BAND)
    arguments = {"atoms": atoms, "limit": limit, "low": low, "high": high}
    return piece("reaches_ratio", **arguments), piece("near_ratio", **arguments)


def _range(model: RangeControl) -> Recipe:
    """Return how far apart the values of a class are, for a class function that is the value itself."""
    limit = model.values["delta"]
    failing = "" if limit is None else piece("range_below", limit=Fraction(limit))
    return Recipe(
        more_facts=(("highest_value", piece("highest_value")), ("lowest_value", piece("lowest_value"))),
        levels=(("delta", piece("folded", fold="MIN", expression=piece("range_of_values"))),),
        failing=failing,
        table_fails=piece("some_class") if failing else "",
        by_value=True,
        unusable=(_without_value(),),
        ordered=True,
    )


def _without_value() -> str:
    return piece("count_where", relation="target", condition="s IS NULL")


_RECIPES: Mapping[str, Callable[[Any], Recipe]] = {
    "facts": _general,
    "sizes": _sizes,
    "population": _population,
    "disclosure": _disclosure,
    "range": _range,
}
"""How one SELECT carries a model, by what the model says of itself."""
