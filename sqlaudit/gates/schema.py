"""The JSON Schema of a policy, for editors: made from the keys that its readers know and the registry of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlaudit.base.spec import SafeHarbor
from sqlaudit.gates import (
    cell_limits,
    connections,
    cube_section,
    reading,
    release_limits,
    release_section,
    requirements,
    tables,
)
from sqlaudit.gates.column_limits import COLUMN_KEYS, HARBOR_KEYS
from sqlaudit.gates.keys import TEXT, TEXTS_OF_IT, Keys
from sqlaudit.gates.requirements import OPTIONS
from sqlaudit.gates.tables import READ_KEYS
from sqlaudit.models.base import Model, Parameter
from sqlaudit.models.presets import presets
from sqlaudit.models.registry import REGISTRY

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER_TEXT = {"type": "string", "pattern": r"^\s*[0-9]*\.?[0-9]+(/[0-9]+|\s*%)?\s*$"}
_REQUIRING = [{"required": ["require"]}, {"required": [cell_limits.PRESET]}]
_KINDS = ("table", "file", "query")


def policy_schema() -> dict[str, object]:
    """The schema of a policy file, as JSON Schema 2020-12."""
    return {
        "$schema": _DRAFT,
        "title": "A policy of sqlaudit",
        **_section(reading.TOP, "tables"),
        "$defs": {
            "connection": _one_of(connections.KINDS, connections.KEYS),
            "defaults": _section(reading.DEFAULTS),
            "table": _one_of(_KINDS, reading.TABLE),
            "persons": _one_of(_KINDS, tables.PERSON_KEYS, "entity"),
            "read": _section(READ_KEYS),
            "other": {"oneOf": [TEXT, _one_of(("table", "file"), tables.OTHER_KEYS)]},
            "requirements": {
                "type": "array",
                "items": {
                    "oneOf": [TEXT, {"$ref": "#/$defs/requirement"}, {"$ref": "#/$defs/requirements", "minItems": 1}]
                },
            },
            "requirement": _requirement(),
            "column_sets": _section(COLUMN_KEYS, "max_size"),
            "loss": _one_of(("at_most", "at_least"), release_limits.LOSS_KEYS, "original", "measure"),
            "aggregates": _section(cell_limits.CELL_KEYS, "by") | {"anyOf": _REQUIRING},
            "safe_harbor": _section(HARBOR_KEYS),
            release_limits.M_INVARIANCE: _section(release_limits.SERIES_KEYS, "m", "before"),
            "synthetic": _section(release_limits.SYNTHETIC_KEYS, "original", "require"),
            release_section.RELEASE: _section(release_section.RELEASE_KEYS),
            cube_section.CUBE: _section(cube_section.CUBE_KEYS, "dimensions", "require"),
            "exception": _one_of(("requirement", "identifier"), tables.EXCEPTION_KEYS, "until", "reason"),
            "texts": {"oneOf": [TEXT, TEXTS_OF_IT]},
            "column": {"oneOf": [TEXT, _section({"expression": TEXT}, "expression")]},
            "columns": {"anyOf": [{"$ref": "#/$defs/column"}, {"type": "array", "items": {"$ref": "#/$defs/column"}}]},
            "number_text": _NUMBER_TEXT,
            **_numbers(),
        },
    }


def _section(keys: Keys, *required: str) -> dict[str, Any]:
    """A mapping with these keys; those that begin with x- are no one's."""
    schema: dict[str, object] = {
        "type": "object",
        "properties": dict(keys),
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    return schema | ({"required": list(required)} if required else {})


def _one_of(kinds: Iterable[str], keys: Keys, *required: str) -> dict[str, object]:
    """A mapping that has one of some keys."""
    return _section(keys, *required) | {"oneOf": [{"required": [kind]} for kind in kinds]}


def _requirement() -> dict[str, object]:
    """Return the schema of a requirement: the models, the other limits, the presets and the options."""
    properties = {
        **{name: schema for model in REGISTRY.values() for name, schema in _model_names(model)},
        **{name: {"$ref": f"#/$defs/{name}"} for name in requirements.LIMITS},
        cell_limits.PRESET: {
            "enum": [name for name, preset in presets().items() if preset.audit or name == SafeHarbor.preset],
            "description": "A published rule; `sqlaudit models --presets` lists them.",
        },
        **OPTIONS,
    }
    at = {
        rf"^({'|'.join((*model.short_forms, model.name))})@[0-9.]+$": _number(_main(model))
        for model in REGISTRY.values()
        if len(model.parameters) > 1
    }
    schema = _section(properties)
    return schema | {"patternProperties": {**schema["patternProperties"], **at}}


def _main(model: type[Model]) -> Parameter | None:
    return next((parameter for parameter in model.parameters if parameter.name == model.main), None)


def _model_names(model: type[Model]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A model under each of its names, written out under the last one."""
    *others, last = dict.fromkeys((*model.short_forms, model.name))
    yield from ((name, {"$ref": f"#/$defs/requirement/properties/{last}"}) for name in others)
    yield last, _model(model)


def _model(model: type[Model]) -> dict[str, object]:
    """Return the schema of the limits of a model: a number, or its parameters."""
    properties = {parameter.name: _number(parameter) for parameter in model.parameters}
    needed = [parameter.name for parameter in model.parameters if parameter.default is None]
    described = {"description": f"{model.title or model.name}. {model.definition}"}
    limits: list[dict[str, object]] = [
        {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    ]
    main = _main(model)
    if main is not None:
        limits.insert(0, _number(main))
    return described | {"oneOf": limits}


def _number(parameter: Parameter | None) -> dict[str, object]:
    """A limit: as a number, or as a text that is one (`1/3`, `20%`)."""
    if parameter is None or parameter.kind == "text":
        return {"type": ["string", "number"]}
    return {"$ref": f"#/$defs/{_range_name(parameter)}", "description": parameter.help}


def _numbers() -> dict[str, object]:
    """Every range that limits lie in, by its name: a number, or a text that is one."""
    ranges: dict[str, dict[str, object]] = {"number": {"type": "number"}}
    for parameter in (
        parameter for model in REGISTRY.values() for parameter in model.parameters if parameter.kind != "text"
    ):
        kind, number = ("integer", int) if parameter.kind == "integer" else ("number", float)
        ends = {"minimum": parameter.minimum, "maximum": parameter.maximum}
        ranges[_range_name(parameter)] = {"type": kind} | {
            name: number(end) for name, end in ends.items() if end is not None
        }
    return {name: {"oneOf": [bounds, {"$ref": "#/$defs/number_text"}]} for name, bounds in ranges.items()}


def _range_name(parameter: Parameter) -> str:
    """For instance `integer_from_1` or `number_from_0_to_1`."""
    kind = "integer" if parameter.kind == "integer" else "number"
    ends = (("from", parameter.minimum), ("to", parameter.maximum))
    return "_".join((kind, *(f"{word}_{float(end):g}" for word, end in ends if end is not None)))
