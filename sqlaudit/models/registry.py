"""Every privacy model by its name, and requirements as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import ModuleType
from typing import Any, TypeVar

from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.numbers import exact_share
from sqlaudit.base.parameter_names import command, spelled
from sqlaudit.base.spec import Requirement
from sqlaudit.models import (
    belief,
    categories,
    cell_rules,
    closeness,
    diversity,
    estimated,
    functions,
    given_distance,
    persons,
    releases,
    risk,
    synthetic,
)
from sqlaudit.models.base import Context, Model, Parameter
from sqlaudit.models.cell_rules import CellRule
from sqlaudit.models.persons import PersonsModel
from sqlaudit.models.releases import SeriesModel
from sqlaudit.models.synthetic import SyntheticModel

# Every privacy model by its name, in the order of the documentation.

_MODULES = (diversity, closeness, categories, functions, given_distance, belief, risk, persons, estimated)
_Kind = TypeVar("_Kind", bound=Model)


def _models_of(kind: type[_Kind], *modules: ModuleType) -> dict[str, type[_Kind]]:
    """Return the models of a kind that modules define, by name, in the order they are written."""
    defined = [(module, value) for module in modules for value in vars(module).values() if isinstance(value, type)]
    models = [value for module, value in defined if issubclass(value, kind) and value.__module__ == module.__name__]
    return {model.name: model for model in models if model.name}


REGISTRY: dict[str, type[Model]] = _models_of(Model, *_MODULES)
"""Every model by its name, in the order of the documentation."""

CELL_RULES: dict[str, type[CellRule]] = _models_of(CellRule, cell_rules)
"""Every rule for the cells of published tables by its name; an audit of rows does not take them."""

OF_RELEASES: dict[str, type[SeriesModel]] = _models_of(SeriesModel, releases)
"""Those that several releases of one table decide together; an audit of one table does not take them."""

OF_SYNTHETIC: dict[str, type[SyntheticModel]] = _models_of(SyntheticModel, synthetic)
"""Those that a synthetic table and its original decide together; an audit of one table does not take them."""

OF_COMPARISONS: dict[str, type[Model]] = {**REGISTRY, **OF_SYNTHETIC}
"""Those that a comparison takes: of the release alone, or of a synthetic table."""

OF_PERSONS: dict[str, type[PersonsModel]] = _models_of(PersonsModel, persons)
"""Those of them that what is known of persons' events decides, and no class of rows."""

INFERENCE = (diversity.DistinctDiversity, diversity.AlphaKAnonymity, closeness.TCloseness)
"""The models that tell what a class reveals about the sensitive value, in the order of reports by criteria."""


def model_of(name: str) -> type[Model]:
    """Return the model of that name that an audit takes; `Model`, which has the defaults, for checks of columns.

    Example:
        >>> model_of("k_anonymity").title, model_of("direct_identifier").title
        ('k-anonymity', '')
    """
    return REGISTRY.get(name, Model)


def cell_rule(requirement: Requirement) -> CellRule:
    """Return the rule for cells that a requirement names.

    Raises:
        UsageError: it is no rule for cells.
    """
    if requirement.model not in CELL_RULES:
        raise UsageError(f"{requirement.text or requirement.model!r} is not a rule for cells.")
    return CELL_RULES[requirement.model](requirement.parameters, Context(None, 0))


def kind_flags(model: type[Model]) -> dict[str, bool]:
    """Return of which kind a model is, as `sqlaudit models` lists it."""
    kinds = {"of_cells": CellRule, "of_releases": SeriesModel, "of_synthetic": SyntheticModel}
    return {name: issubclass(model, kind) for name, kind in kinds.items()}


# Requirements as people write them: `k=5`, `t=0.2`, `recursive_l=c:3,l:2`, `disclosure@3=0.8`.

_FORM = re.compile(r"^\s*(?P<name>[^=<>@\s]+)\s*(@\s*(?P<at>[^=<>\s]+))?\s*(?P<sign>>=|<=|=|<|>)\s*(?P<value>.+?)\s*$")
_NEXT = re.compile(r",(?=\s*[^=<>@,:\s]+\s*(?:@[^=<>,]*)?[=<>])")
"""A comma between two requirements; one between parameters is followed by a name with a colon."""
_SIDES = {">=": "a lower limit (at least)", "<=": "an upper limit (at most)", "<": "an upper limit (below)"}
MAX_DECIMALS = 9
_FIELD_WORDS = {
    "l_diversity": "l=2 (distinct l-diversity), or entropy_l or recursive_l",
    "nk": "`sqlaudit aggregates` with dominance=n:1,k:80",
    "p%": "`sqlaudit aggregates` with p_percent=10",
    "suda": "`sqlaudit records`, which computes SUDA scores",
}
"""What the field calls by other names."""
_OF_PERSONS = {"k_anonymity": "km with m:1 is k-anonymity against one known event, profile_k against all events."}
"""What to require of persons' events instead of a model of classes."""


Among = Mapping[str, type[Model]]
"""The models that may be required, by name: those of rows, those of them about persons, or the rules of cells."""


def parse_requirement(text: str, severity: str = "error", among: Among = REGISTRY) -> Requirement:
    """A requirement from its text.

    Args:
        text: `model=number`, `model=parameter:value,parameter:value`, or `model@parameter=number`.
        severity: `error` or `warn`. among: the models that may be required.

    Raises:
        UsageError: unknown model or parameter, a value of the wrong kind, or a sign that contradicts the model's.

    Example:
        >>> parse_requirement("t=0.2").parameters
        {'t': Fraction(1, 5)}
    """
    match = _FORM.match(text)
    if match is None:
        raise UsageError(f"Requirement {text!r} is not of the form model=number. Example: k=5.")
    model = find_model(match["name"], among)
    if match["sign"] not in ("=", model.operator):
        raise UsageError(f"{text.strip()!r}: {contradiction(match['name'], model.operator)}.")
    pairs = [part.partition(":") for part in match["value"].split(",")] if ":" in match["value"] else []
    parameters: dict[str, object] = {name.strip(): text.strip() for name, _, text in pairs} or {
        model.main: match["value"]
    }
    if match["at"] is not None:
        parameters[_at_parameter(model, text).name] = match["at"]
    return _requirement(model, parameters, text.strip(), severity)


def parse_requirements(text: str, severity: str = "error", among: Among = REGISTRY) -> tuple[Requirement, ...]:
    """The requirements of a text, one or several with commas between them.

    Args:
        text: as for `parse_requirement`, or several such. severity: `error` or `warn`. among: the models that may be.

    Raises:
        UsageError: as `parse_requirement`.

    Example:
        >>> [one.text for one in parse_requirements("k=5, recursive_l=c:3,l:2,t<=0.2")]
        ['k=5', 'recursive_l=c:3,l:2', 't<=0.2']
    """
    return tuple(parse_requirement(part, severity, among) for part in _NEXT.split(text))


def contradiction(name: str, operator: str) -> str:
    """Return the message about a sign that reverses a model: `at most 5` must not become `at least 5`.

    Example:
        >>> contradiction("k", ">=")
        'k is a lower limit (at least); write >= or ='
    """
    return f"{name} is {_SIDES[operator]}; write {operator} or ="


def requirement_from(name: str, value: object, severity: str = "error", among: Among = REGISTRY) -> Requirement:
    """A requirement from Python: `("k", 5)`, `("recursive_l", {"c": 3, "l": 2})`, `("disclosure@3", 0.8)`."""
    base, _, at = name.partition("@")
    model = find_model(base, among)
    parameters = dict(value) if isinstance(value, Mapping) else {model.main: value}
    if at:
        parameters[_at_parameter(model, name).name] = at
    value_text = ",".join(f"{k}:{v}" for k, v in value.items()) if isinstance(value, Mapping) else value
    return _requirement(model, parameters, f"{name}={value_text}", severity)


def find_model(name: str, among: Among = REGISTRY) -> type[Model]:
    """The model of that name or short form, among some.

    Raises:
        UsageError: there is none; the sentence names the closest.
    """
    key = name.strip().replace("-", "_")
    names = _names(among)
    if instead := _FIELD_WORDS.get(key.lower()):
        raise UsageError(f"There is no requirement {name!r}. Use {instead}.")
    if key not in names:
        if any(key in _names(others) for others in (REGISTRY, CELL_RULES, OF_RELEASES, OF_SYNTHETIC)):
            raise UsageError(_elsewhere(name, key, among))
        raise UsageError(f"There is no privacy model {name!r}.{closest(key, names)} 'sqlaudit models' lists them.")
    return names[key]


def _names(among: Among) -> dict[str, type[Model]]:
    return {short: model for model in among.values() for short in (*model.short_forms, model.name)}


def _elsewhere(name: str, key: str, among: Among) -> str:
    """Return where a model is allowed that is not allowed here."""
    if among is OF_PERSONS and key in _names(REGISTRY):
        allowed = ", ".join(_names(OF_PERSONS))
        instead = f" {_OF_PERSONS[model.name]}" if (model := _names(REGISTRY)[key]).name in _OF_PERSONS else ""
        return (
            f"{name!r} is about classes of rows. Use {command('audit')}, which also judges all rows of a person "
            f"together. Allowed here: {allowed}.{instead}"
        )
    if key in _names(OF_RELEASES):
        return f"{name!r} is about several releases of one table. Use {command('releases')}."
    if key in _names(OF_SYNTHETIC):
        return f"{name!r} is about a synthetic table and its original. Use {command('compare')}."
    if among is OF_RELEASES or among is OF_SYNTHETIC:
        elsewhere = command("audit" if key in _names(REGISTRY) else "aggregates")
        return f"{name!r} is about one table. Use {elsewhere}. Allowed here: {', '.join(among)}."
    if among is CELL_RULES:
        return f"{name!r} is about rows of people, not cells. Use {command('audit')}."
    return f"{name!r} is about the cells of a published table. Use {command('aggregates')}."


def _at_parameter(model: type[Model], text: str) -> Parameter:
    others = [p for p in model.parameters if p.name != model.main]
    if not others:
        raise UsageError(f"{text!r}: {model.name} has no parameter for the part after '@'.")
    return others[0]


def _requirement(model: type[Model], parameters: Mapping[str, object], text: str, severity: str) -> Requirement:
    """Return a requirement with its parameters parsed.

    Raises:
        UsageError: a parameter is unknown, missing or malformed.
    """
    parameters_of_model = {p.name: p for p in model.parameters}
    for name in parameters:
        if name not in parameters_of_model:
            names = ", ".join(parameters_of_model) or "none"
            raise UsageError(f"{text!r}: {model.name} has no parameter {name!r}; it has {names}.")
    for p in model.parameters:
        if p.default is None and p.name not in parameters:
            raise UsageError(f"{text!r}: {model.name} also needs {p.name} ({p.help}).")
    values = {name: parse_value(parameters_of_model[name], value, text) for name, value in parameters.items()}
    return Requirement(model.name, values, text, severity)


def parse_value(parameter: Parameter, value: object, text: str) -> int | Fraction | str:
    """A parameter's value as an exact number (or a text), checked against its bounds."""
    if parameter.kind == "text":
        return str(value)
    exact, low, high = _exact(value, text, parameter.name), parameter.minimum, parameter.maximum
    if parameter.kind == "integer" and exact.denominator != 1:
        raise UsageError(f"{text!r}: {parameter.name} is a whole number, not {value}.")
    if low is not None and exact < low:
        raise OutOfRange(f"{text!r}: {parameter.name} is at least {low}, not {exact}.")
    if high is not None and exact > high:
        raise OutOfRange(f"{text!r}: {parameter.name} is at most {high}, not {exact}.")
    return exact.numerator if parameter.kind == "integer" else exact


def _exact(value: Any, text: str, name: str) -> Fraction:
    """A number read as a decimal or a fraction, never as a float."""
    if isinstance(value, Fraction):
        return value
    sentence = f"{text!r}: {name} is a number, for instance 5 or 0.2."
    if isinstance(value, str) and "," in value:
        sentence += " Several parameters are written with their names, for instance dominance=n:1,k:80."
    try:
        exact = exact_share(value)
    except UsageError:
        raise UsageError(sentence) from None
    if abs(exact) > 10**18:
        raise UsageError(sentence)
    if exact.denominator > 10**MAX_DECIMALS or abs(exact.numerator) > 10**18:
        raise UsageError(f"{text!r}: {name} may have at most {MAX_DECIMALS} decimal places.")
    return exact


Require = Mapping[str, Any] | Iterable[str | Requirement] | None


def requirements(require: Require, among: Among = REGISTRY) -> tuple[Requirement, ...]:
    """Requirements from a mapping, from texts, or from one text; `among` has the models that may be required."""
    if require is None:
        return ()
    if isinstance(require, Mapping):
        return tuple(requirement_from(name, value, among=among) for name, value in require.items())
    if isinstance(require, str):
        return parse_requirements(require, among=among)
    if not isinstance(require, Iterable):
        kinds = "a mapping such as {'k': 5}, a text or a list of texts"
        raise UsageError(f"{spelled('require')} takes {kinds}, not a value of type {type(require).__name__}.")
    parsed = ((item,) if isinstance(item, Requirement) else parse_requirements(item, among=among) for item in require)
    return tuple(requirement for several in parsed for requirement in several)
