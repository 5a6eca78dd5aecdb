"""Every privacy model by its name, in the order of the documentation."""

from __future__ import annotations

from types import ModuleType

from sqlaudit.models import (
    belief,
    categories,
    cell_rules,
    closeness,
    contribution_rules,
    diversity,
    estimated,
    extended,
    functions,
    given_distance,
    hierarchical,
    margin_rules,
    persons,
    population,
    recursive,
    releases,
    risk,
    worst_case,
)
from sqlaudit.models.base import Model
from sqlaudit.models.cell_rules import CellRule

_MODULES = (
    diversity,
    recursive,
    extended,
    closeness,
    hierarchical,
    categories,
    functions,
    given_distance,
    belief,
    worst_case,
    risk,
    population,
    persons,
    estimated,
)


def _models_of(module: ModuleType) -> list[type[Model]]:
    """The models that a module defines, in the order they are written."""
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Model)]
    return [model for model in found if model.name and model.__module__ == module.__name__]


def _rules_of(module: ModuleType) -> list[type[CellRule]]:
    """The rules for cells that a module defines, in the order they are written."""
    return [model for model in _models_of(module) if issubclass(model, CellRule)]


REGISTRY: dict[str, type[Model]] = {model.name: model for module in _MODULES for model in _models_of(module)}
"""Every model by its name, in the order of the documentation."""

CELL_RULES: dict[str, type[CellRule]] = {
    rule.name: rule for module in (cell_rules, contribution_rules, margin_rules) for rule in _rules_of(module)
}
"""Every rule for the cells of published tables by its name; an audit of rows does not take them."""

OF_RELEASES: dict[str, type[Model]] = {model.name: model for model in _models_of(releases)}
"""Those that several releases of one table decide together; an audit of one table does not take them."""

OF_PERSONS: dict[str, type[Model]] = {name: model for name, model in REGISTRY.items() if model.of_persons}
"""Those of them that what is known of persons' events decides, and no class of rows."""
