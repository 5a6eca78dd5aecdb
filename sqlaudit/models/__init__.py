"""The privacy models, one class each. Importing this package fills the registry, in the order of the documentation."""

from sqlaudit.models import closeness, diversity, risk, worst_case
from sqlaudit.models.base import REGISTRY, Context, Model, Parameter, register

for _module in (diversity, closeness, worst_case, risk):
    register(_module)

__all__ = ["REGISTRY", "Context", "Model", "Parameter"]
