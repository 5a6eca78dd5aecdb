"""`sqlaudit models`: the privacy models as the registry has them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, cast

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.result import Code, Operator, plain
from sqlaudit.cli.options import output_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import command_of
from sqlaudit.models.phrases import catalogue_document, model_document


@command_of(click.Argument(["name"], required=False), output_options)
def command(name: str | None, output: Output) -> int:
    """List the privacy models, or explain the one called NAME.

    \b
      sqlaudit models
      sqlaudit models t_closeness
      sqlaudit models l --format json
    """
    from sqlaudit.models.registry import CELL_RULES, OF_RELEASES, OF_SYNTHETIC, PRESETS, REGISTRY, find_model

    if name:
        model = describe(find_model(name, REGISTRY | CELL_RULES | OF_RELEASES | OF_SYNTHETIC))
        one: ModelList = {"schema": "sqlaudit-models/1", "models": [model]}
        output.emit(lambda: model_document(model), lambda: one)
        return ExitCode.OK
    every = (REGISTRY, CELL_RULES, OF_RELEASES, OF_SYNTHETIC)
    entries, rules, series, synthetic = ([describe(each) for each in listed.values()] for listed in every)
    presets: list[_Preset] = [
        {"name": preset, "requirements": list(found.requirements), "source": found.source}
        for preset, found in PRESETS.items()
    ]
    data: ModelList = {
        "schema": "sqlaudit-models/1",
        "models": entries,
        "cell_rules": rules,
        "release_models": series,
        "synthetic_models": synthetic,
        "presets": presets,
    }
    output.emit(lambda: catalogue_document(entries, presets, rules, series, synthetic), lambda: data)
    return ExitCode.OK


class _Parameter(TypedDict):
    """A parameter of a model.

    Args:
        default: None when it must be given.
    """

    name: str
    kind: Literal["integer", "decimal", "text"]
    help: str
    default: float | str | None


class _Model(TypedDict):
    """A privacy model as the registry has it.

    Args:
        reference: where the definition comes from. short_forms: other names that `--require` takes.
        main: the parameter that `model=number` sets.
        needs_entity: whether it must be known which person a row is about (`--entity`).
        needs_order: whether the sensitive values must have an order. needs: further inputs, given with `--inputs`.
        by_default: whether it is reported when nothing is required.
        nulls_wildcard: whether it has a meaning with `--nulls wildcard`.
        of_cells: whether it is a rule for cells of published tables, which `sqlaudit aggregates` judges.
        of_releases: whether several releases of one table decide it, which `sqlaudit releases` judges.
        of_synthetic: whether a synthetic table and its original decide it, which `sqlaudit compare` judges.
    """

    name: Code
    title: str
    definition: str
    reference: str
    note: str
    operator: Operator
    short_forms: list[str]
    main: str
    parameters: list[_Parameter]
    needs_sensitive: bool
    needs_entity: bool
    needs_order: bool
    needs: list[str]
    by_default: bool
    stays_when_classes_merge: bool
    stays_with_suppression_limit: bool
    nulls_wildcard: bool
    of_cells: bool
    of_releases: bool
    of_synthetic: bool


class _Preset(TypedDict):
    name: str
    requirements: list[str]
    source: str


class ModelList(TypedDict):
    """What `sqlaudit models` prints: the privacy models and the presets.

    Args:
        cell_rules: only in the list of all models: the rules for cells of published tables.
        release_models: only in the list of all models: those that several releases of one table decide together.
        synthetic_models: only in the list of all models: those that a synthetic table and its original decide together.
        presets: only in the list of all models.
    """

    schema: Literal["sqlaudit-models/1"]
    models: list[_Model]
    cell_rules: NotRequired[list[_Model]]
    release_models: NotRequired[list[_Model]]
    synthetic_models: NotRequired[list[_Model]]
    presets: NotRequired[list[_Preset]]


def describe(model: Any) -> _Model:
    """A model as data: what the registry says of it."""
    parameters = [{name: plain(getattr(one, name)) for name in _Parameter.__annotations__} for one in model.parameters]
    differently_named = {
        "parameters": parameters,
        "stays_when_classes_merge": model.inherited,
        "stays_with_suppression_limit": model.inherited and model.inherited_with_limit,
        "nulls_wildcard": model.wildcard,
    }
    found = {
        name: differently_named[name] if name in differently_named else plain(getattr(model, name))
        for name in _Model.__annotations__
    }
    return cast("_Model", found)
