"""The privacy models, one class each. Importing this package fills the registry, in the order of the documentation."""

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
from sqlaudit.models.base import REGISTRY, Context, Model, Parameter, register

for _module in (
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
):
    register(_module)

__all__ = ["REGISTRY", "Context", "Model", "Parameter"]
