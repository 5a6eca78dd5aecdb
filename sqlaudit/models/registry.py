"""Every privacy model by its name, in the order of the documentation."""

from __future__ import annotations

from types import ModuleType

from sqlaudit.models import (
    belief,
    categories,
    closeness,
    diversity,
    extended,
    functions,
    hierarchical,
    population,
    recursive,
    risk,
    worst_case,
)
from sqlaudit.models.base import Model

_MODULES = (
    diversity,
    recursive,
    extended,
    closeness,
    hierarchical,
    categories,
    functions,
    belief,
    worst_case,
    risk,
    population,
)


def _models_of(module: ModuleType) -> list[type[Model]]:
    """The models that a module defines, in the order they are written."""
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Model)]
    return [model for model in found if model.name and model.__module__ == module.__name__]


REGISTRY: dict[str, type[Model]] = {model.name: model for module in _MODULES for model in _models_of(module)}
"""Every model by its name, in the order of the documentation."""
