"""Which models are evaluated for a sensitive attribute: what is required, or everything that needs no input."""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Requirement, Roles
from sqlaudit.base.words import spelled
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.models.base import Context, Model
from sqlaudit.models.judge import Asked
from sqlaudit.models.persons import refuse_without_entity
from sqlaudit.models.registry import REGISTRY
from sqlaudit.reports.figures import plural


def asked_models(
    requirements: Sequence[Requirement], context: Context, roles: Roles, attribute: Resolved | None, position: int
) -> list[Asked]:
    """The models to evaluate for one sensitive attribute: what is required, or everything that needs no input.

    Models of class sizes alone are evaluated once, for the first attribute (`position` 0); with `joint` the classes
    differ from one attribute to the next, and so these models too.

    Raises:
        UsageError: a requirement lacks its sensitive attribute or an input, or has no meaning with these roles.
    """
    nulls = roles.nulls
    if requirements:
        models = [(REGISTRY[r.model], r) for r in requirements]
    else:
        models = [(model, Requirement(model.name)) for model in REGISTRY.values() if _by_default(model, context, nulls)]
    asked = []
    for model, requirement in models:
        refuse_without_entity(model, requirement.text or model.name, roles.entity)
        if model.needs_sensitive and context.table is None:
            if requirements:
                raise UsageError(
                    f"{requirement.text!r} needs a sensitive attribute; name one with {spelled('sensitive')}."
                )
            continue
        if nulls is NullPolicy.WILDCARD and not model.wildcard:
            raise UsageError(
                f"{requirement.text or model.name!r} has no meaning with {spelled('nulls', 'wildcard')}: "
                "classes overlap there. "
                f"Use {spelled('nulls', 'equal')} or distinct."
            )
        named = attribute is not None and (model.needs_sensitive or (roles.joint and len(roles.sensitive) > 1))
        if position and not named:
            continue
        _check_inputs(model, requirement, context, attribute)
        label = attribute.label if attribute is not None and named else None
        asked.append(Asked(model(requirement.parameters, context), requirement, label))
    return asked


def _by_default(model: type[Model], context: Context, nulls: NullPolicy) -> bool:
    if not model.by_default or (nulls is NullPolicy.WILDCARD and not model.wildcard):
        return False
    if any(need not in context.inputs for need in model.needs):
        return False
    if "population" in model.needs and nulls is NullPolicy.DISTINCT:
        return False
    if model.needs_order and "order" not in context.inputs:
        table = context.table
        return table is not None and table.ordered and not table.has_null
    return True


def _check_inputs(model: type[Model], requirement: Requirement, context: Context, attribute: Resolved | None) -> None:
    missing = [need for need in model.needs if need not in context.inputs]
    if missing:
        raise UsageError(f"{requirement.text!r} {model.how_to_give(missing)}.")
    if model.needs_order and context.table and not context.table.ordered and "order" not in context.inputs:
        label = attribute.label if attribute else "the attribute"
        raise UsageError(
            f"{requirement.text!r}: the values of {label} are text and have no order of their own; declare one under "
            f"'order' in a file with {spelled('inputs')}."
        )


def defined(builder: HistogramBuilder, attribute: Resolved | None, asked: list[Asked]) -> list[Asked]:
    """Without the models that have no meaning when a person has two values or lies in two classes.

    Raises:
        UsageError: such a model is required, and there are such persons.
    """
    wanting = [item for item in asked if item.model.one_value_per_person]
    if builder.frame.entity is None or attribute is None or not wanting:
        return asked
    persons = builder.persons_in_several_places(attribute.sql)
    if persons and wanting[0].model.is_required:
        raise UsageError(
            f"{wanting[0].requirement.text!r} needs one class and one value of {attribute.label} for each person; "
            f"{plural(persons, 'person has', 'persons have')} more."
        )
    return [item for item in asked if item not in wanting] if persons else asked
