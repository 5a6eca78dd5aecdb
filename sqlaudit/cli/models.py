"""`sqlaudit models`: the privacy models as the registry has them."""

from __future__ import annotations

from typing import Any

import click

from sqlaudit.base.documents import plain
from sqlaudit.base.errors import ExitCode
from sqlaudit.cli.options import output_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.sections import Sectioned
from sqlaudit.models.report import catalogue_document, model_document


@click.command(cls=Sectioned)
@click.argument("name", required=False)
@output_options
def command(name: str | None, output: Output) -> int:
    """List the privacy models, or explain the one called NAME.

    \b
      sqlaudit models
      sqlaudit models t_closeness
      sqlaudit models l --format json
    """
    from sqlaudit.models.registry import CELL_RULES, OF_RELEASES, REGISTRY
    from sqlaudit.models.requirements import PRESETS, find_model

    every = REGISTRY | CELL_RULES | OF_RELEASES
    entries = [describe(find_model(name, every))] if name else [describe(model) for model in REGISTRY.values()]
    rules = [describe(rule) for rule in CELL_RULES.values()]
    series = [describe(model) for model in OF_RELEASES.values()]
    presets = [
        {"name": preset, "requirements": list(found.requirements), "source": found.source}
        for preset, found in PRESETS.items()
    ]
    if name:
        output.emit(lambda: model_document(entries[0]), lambda: {"schema": SCHEMA, "models": entries})
    else:
        data = {"schema": SCHEMA, "models": entries, "cell_rules": rules, "release_models": series, "presets": presets}
        output.emit(lambda: catalogue_document(entries, presets, rules, series), lambda: data)
    return ExitCode.OK


SCHEMA = "sqlaudit-models/1"


def describe(model: Any) -> dict[str, Any]:
    """A model as data: what the registry says of it."""
    return {
        "name": model.name,
        "title": model.title,
        "definition": model.definition,
        "reference": model.reference,
        "note": model.note,
        "operator": model.operator,
        "short_forms": list(model.short_forms),
        "main": model.main,
        "parameters": [
            {
                "name": parameter.name,
                "kind": parameter.kind,
                "help": parameter.help,
                "default": plain(parameter.default),
            }
            for parameter in model.parameters
        ],
        "needs_sensitive": model.needs_sensitive,
        "needs_entity": model.needs_entity,
        "needs_order": model.needs_order,
        "needs": list(model.needs),
        "by_default": model.by_default,
        "stays_when_classes_merge": model.inherited,
        "stays_with_suppression_limit": model.inherited and model.inherited_with_limit,
        "nulls_wildcard": model.wildcard,
        "of_cells": model.of_cells,
        "of_releases": model.of_releases,
    }
