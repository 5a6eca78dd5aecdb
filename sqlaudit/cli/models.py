"""`sqlaudit models`: the privacy models as the registry has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.result import Code, Operator, plain
from sqlaudit.cli.options import output_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import command_of
from sqlaudit.models.phrases import catalogue_document, model_document, presets_document
from sqlaudit.models.registry import kind_flags

if TYPE_CHECKING:
    from sqlaudit.models.presets import Preset


@command_of(
    click.Argument(["name"], required=False),
    click.Option(["--presets"], is_flag=True, help="List the published rules, or explain the one called NAME."),
    output_options,
)
def command(name: str | None, presets: bool, output: Output) -> int:
    """List the privacy models, or explain the one called NAME.

    \b
      sqlaudit models
      sqlaudit models t_closeness
      sqlaudit models --presets
      sqlaudit models --presets ema-0070
      sqlaudit models l --format json
    """
    from sqlaudit.models import presets as published
    from sqlaudit.models.registry import CELL_RULES, OF_RELEASES, OF_SYNTHETIC, REGISTRY, find_model

    selected = [published.find_preset(name)] if name and presets else published.presets().values()
    rules = [_describe_preset(preset) for preset in selected]
    if presets:
        presets_only: ModelList = {"schema": "sqlaudit-models/1", "models": [], "presets": rules}
        output.emit(lambda: presets_document(rules), lambda: presets_only)
        return ExitCode.OK
    if name:
        model = describe(find_model(name, REGISTRY | CELL_RULES | OF_RELEASES | OF_SYNTHETIC))
        model_only: ModelList = {"schema": "sqlaudit-models/1", "models": [model]}
        output.emit(lambda: model_document(model), lambda: model_only)
        return ExitCode.OK
    registries = (REGISTRY, CELL_RULES, OF_RELEASES, OF_SYNTHETIC)
    models, cell_rules, release_models, synthetic_models = (
        [describe(model_class) for model_class in registry.values()] for registry in registries
    )
    catalogue: ModelList = {
        "schema": "sqlaudit-models/1",
        "models": models,
        "cell_rules": cell_rules,
        "release_models": release_models,
        "synthetic_models": synthetic_models,
        "presets": rules,
    }
    output.emit(
        lambda: catalogue_document(models, rules, cell_rules, release_models, synthetic_models), lambda: catalogue
    )
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


class _Limits(TypedDict):
    """What a preset requires.

    Args:
        audit: of rows, as for `sqlaudit audit --require`. aggregates: of cells, as for `sqlaudit aggregates --require`.
    """

    audit: list[str]
    aggregates: list[str]


class _Preset(TypedDict):
    """A published rule.

    Args:
        clause: where it stands. quotation: its exact words, empty where `unquoted` says why there are none.
        note: what else a reader should know.
        limits: what it requires. sections: clauses that `sqlaudit audit --criteria` reports.
        identifiers: what a check of columns looks for.
        source, link: the document. date: its day, month or year (ISO 8601).
    """

    name: str
    title: str
    clause: str
    quotation: str
    unquoted: str
    note: str
    limits: _Limits
    sections: list[str]
    identifiers: list[str]
    source: str
    link: str
    date: str


def _describe_preset(preset: Preset) -> _Preset:
    """Return a preset as the JSON output has it."""
    texts = {name: getattr(preset, name) for name in _Preset.__annotations__ if name != "limits"}
    limits: _Limits = {"audit": list(preset.audit), "aggregates": list(preset.aggregates)}
    sections = [part.title for part in preset.sections]
    identifiers = [f"{part.clause} {part.title}" for part in preset.identifiers]
    return cast("_Preset", texts | {"limits": limits, "sections": sections, "identifiers": identifiers})


class ModelList(TypedDict):
    """What `sqlaudit models` prints: the privacy models and the presets.

    Args:
        cell_rules: only in the list of all models: the rules for cells of published tables.
        release_models: only in the list of all models: those that several releases of one table decide together.
        synthetic_models: only in the list of all models: those that a synthetic table and its original decide together.
        presets: only in the list of all models, and with `--presets`.
    """

    schema: Literal["sqlaudit-models/1"]
    models: list[_Model]
    cell_rules: NotRequired[list[_Model]]
    release_models: NotRequired[list[_Model]]
    synthetic_models: NotRequired[list[_Model]]
    presets: NotRequired[list[_Preset]]


def describe(model: Any) -> _Model:
    """Return a model as the JSON output has it."""
    parameters = [
        {name: plain(getattr(parameter, name)) for name in _Parameter.__annotations__} for parameter in model.parameters
    ]
    differently_named = {
        "parameters": parameters,
        "stays_when_classes_merge": model.inherited,
        "stays_with_suppression_limit": model.inherited and model.inherited_with_limit,
        "nulls_wildcard": model.wildcard,
        **kind_flags(model),
    }
    fields_of_model = {
        name: differently_named[name] if name in differently_named else plain(getattr(model, name))
        for name in _Model.__annotations__
    }
    return cast("_Model", fields_of_model)
