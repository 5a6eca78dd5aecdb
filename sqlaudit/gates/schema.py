"""The JSON Schema of a policy, for editors: made from the registry of models, so that it never falls behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlaudit.base.spec import Coverage, ReadOptions, Roles, Sampling
from sqlaudit.gates.cell_limits import OPTIONS
from sqlaudit.gates.connections import KINDS
from sqlaudit.gates.keys import TEXT, TEXT_OR_TEXTS, key_of, keys_of
from sqlaudit.gates.losses import FIGURES
from sqlaudit.gates.requirements import SEVERITIES
from sqlaudit.models.base import Model, Parameter
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.models.registry import CELL_RULES, REGISTRY
from sqlaudit.models.requirements import PRESETS
from sqlaudit.release.compare.request import CompareRequest

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_WHOLE = {"type": "integer", "minimum": 1}
_NUMBER = {"$ref": "#/$defs/number"}
_NUMBER_TEXT = {"type": "string", "pattern": r"^\s*[0-9]*\.?[0-9]+(/[0-9]+|\s*%)?\s*$"}
_CONDITION = {
    "type": "string",
    "pattern": r"^\s*(>=|<=|!=|==|=|>|<)\s*[0-9]+(\.[0-9]+)?\s*(%|rows?)?\s*$",
    "description": "A condition on the rows that fall short: '> 10' or '> 1%'.",
}
_SHARE = {
    "oneOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, {"type": "string"}],
    "description": "A share of the rows: 1% or 0.01.",
}
_DATE = {
    "type": "string",
    "format": "date",
    "pattern": r"^\d{4}-\d{2}-\d{2}$",
    "description": "The last day on which it holds.",
}


def policy_schema() -> dict[str, Any]:
    """The schema of a policy file, as JSON Schema 2020-12."""
    properties = {
        "version": {"const": 1, "description": "The version of the policy's form."},
        "connections": {
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/connection"},
            "description": "Where tables are, by a name of your own. Never with a password.",
        },
        "defaults": {"$ref": "#/$defs/defaults"},
        "persons": {
            "type": "array",
            "items": {"$ref": "#/$defs/persons"},
            "description": "Tables of persons, for every table of their connection that has the persons' column.",
        },
        "tables": {"type": "array", "items": {"$ref": "#/$defs/table"}, "description": "What is tested."},
    }
    return {
        "$schema": _DRAFT,
        "title": "A policy of sqlaudit",
        "type": "object",
        "required": ["tables"],
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
        "$defs": {
            "connection": _connection(),
            "defaults": _defaults(),
            "table": _table(),
            "persons": _persons(),
            "read": _read(),
            "requirements": {
                "type": "array",
                "items": {"oneOf": [TEXT, {"$ref": "#/$defs/requirement"}, {"$ref": "#/$defs/requirements"}]},
            },
            "requirement": _requirement(),
            "column_sets": _column_sets(),
            "loss": _loss(),
            "aggregates": _aggregates(),
            "m_invariance": _series(),
            "exception": _exception(),
            "texts": {"oneOf": [TEXT, {"type": "array", "items": TEXT}]},
            "number_text": _NUMBER_TEXT,
            **_numbers(),
        },
    }


def _connection() -> dict[str, Any]:
    words = {
        "duckdb": "A DuckDB file, from the folder of the policy.",
        "env": "The environment variable that holds a PostgreSQL URL or the name of a DuckDB file.",
        "url": "A PostgreSQL URL without a password; or a Spark: spark:local, spark:yarn, sc://host:15002.",
        "service": "A service of PostgreSQL's pg_service.conf.",
        "dbt_profile": "A profile of dbt's profiles.yml.",
    }
    own: dict[str, Any] = {kind: TEXT | {"description": words[kind]} for kind in KINDS}
    own["password_env"] = TEXT | {"description": "The environment variable with the password for url or service."}
    own["target"] = TEXT | {"description": "The target of the dbt profile."}
    own["profiles_dir"] = TEXT | {"description": "The folder of profiles.yml."}
    own["description"] = TEXT
    own["namespace"] = TEXT | {"description": "What catalogues call the database: postgres://db.example.org:5432."}
    return _object(own) | {"oneOf": [{"required": [kind]} for kind in KINDS]}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    return found | ({"required": list(required)} if required else {})


def _common() -> dict[str, Any]:
    return {
        "severity": {"enum": list(SEVERITIES), "description": "error keeps the table back, warn only says so."},
        "tags": TEXT_OR_TEXTS | {"description": "For --select tag:…"},
        "owner": TEXT | {"description": "Who answers for it."},
    }


def _persons() -> dict[str, Any]:
    kinds = ("table", "file", "query")
    own: dict[str, Any] = {
        "table": TEXT | {"description": "A table or view of the connection, with a row a person."},
        "file": TEXT | {"description": "A file, from the folder of the policy."},
        "query": TEXT | {"description": "One SELECT over the connection; give it a name."},
        "connection": TEXT | {"description": "A name under connections."},
        "name": TEXT | {"description": "What errors call it."},
        "description": TEXT,
        "where": TEXT | {"description": "Only the rows for which this SQL condition holds."},
        "read": {"$ref": "#/$defs/read"},
        "entity": TEXT | {"description": "The column that says who somebody is, of the same name in all tables."},
        "static": TEXT_OR_TEXTS | {"description": "What is known of a person beside what other tables say."},
    }
    return _object(own, "entity") | {"oneOf": [{"required": [kind]} for kind in kinds]}


def _requirements() -> dict[str, Any]:
    return {"$ref": "#/$defs/requirements", "description": "What must hold."}


def _defaults() -> dict[str, Any]:
    connection = TEXT | {"description": "The connection of tables that name none."}
    return _object(
        {
            "connection": connection,
            **keys_of(Roles, "nulls"),
            "requirements": _requirements(),
            **keys_of(Coverage, "all_columns_named"),
            **_common(),
        }
    )


def _table() -> dict[str, Any]:
    kinds = ("table", "file", "query")
    own: dict[str, Any] = {
        "table": TEXT | {"description": "A table or view of the connection."},
        "file": TEXT
        | {"description": "A CSV, Parquet, JSON or Arrow file, from the folder of the policy; globs work."},
        "query": TEXT | {"description": "One SELECT over the connection; give it a name."},
        "connection": TEXT | {"description": "A name under connections."},
        "name": TEXT | {"description": "What reports call it; unique in the policy."},
        "description": TEXT,
        "where": TEXT | {"description": "Only the rows for which this SQL condition holds."},
        "read": {"$ref": "#/$defs/read"},
        "quasi_identifiers": TEXT_OR_TEXTS
        | {"description": "What others may know about a person: columns or SQL expressions."},
        **keys_of(Roles, "sensitive", "identifiers", "entity", "known_rows"),
        **keys_of(Coverage, "insensitive", "all_columns_named"),
        "persons": {"type": "boolean", "description": "false: no table under persons is about those of this one."},
        **keys_of(Roles, "joint", "nulls"),
        **keys_of(Sampling),
        "derived_from": TEXT_OR_TEXTS | {"description": "Names of tables that this one is made of, for --select name+"},
        "inputs": {
            "type": ["string", "object"],
            "description": "What some models need besides: a file, or its content.",
        },
        "requirements": _requirements(),
        "exceptions": {"type": "array", "items": {"$ref": "#/$defs/exception"}},
        **_common(),
    }
    return _object(own) | {"oneOf": [{"required": [kind]} for kind in kinds]}


def _read() -> dict[str, Any]:
    no_texts = {"type": "array", "items": {"type": "string"}, "description": "Texts that mean NULL."}
    return _object(keys_of(ReadOptions) | {"null_values": no_texts})


def _requirement() -> dict[str, Any]:
    own: dict[str, Any] = {
        **{name: schema for model in REGISTRY.values() for name, schema in _model_names(model)},
        "column_sets": {"$ref": "#/$defs/column_sets"},
        "loss": {"$ref": "#/$defs/loss"},
        "aggregates": {"$ref": "#/$defs/aggregates"},
        "m_invariance": {"$ref": "#/$defs/m_invariance"},
        "preset": {"enum": list(PRESETS), "description": "A published rule."},
        "warn_if": _CONDITION,
        "error_if": _CONDITION,
        "sensitive": TEXT_OR_TEXTS | {"description": "Only for these sensitive columns."},
        "description": TEXT,
        **_common(),
    }
    at = {rf"^({'|'.join((*model.short_forms, model.name))})@[0-9.]+$": _number(_main(model)) for model in _with_at()}
    found = _object(own)
    return found | {"patternProperties": {**found["patternProperties"], **at}}


def _with_at() -> list[type[Model]]:
    """The models that can be written `model@parameter: limit`."""
    return [model for model in REGISTRY.values() if len(model.parameters) > 1]


def _main(model: type[Model]) -> Parameter | None:
    return next((parameter for parameter in model.parameters if parameter.name == model.main), None)


def _model_names(model: type[Model]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A model under each of its names, written out under the last one."""
    *others, last = dict.fromkeys((*model.short_forms, model.name))
    yield from ((name, {"$ref": f"#/$defs/requirement/properties/{last}"}) for name in others)
    yield last, _model(model)


def _model(model: type[Model]) -> dict[str, Any]:
    given = {parameter.name: _number(parameter) for parameter in model.parameters}
    needed = [parameter.name for parameter in model.parameters if parameter.default is None]
    described = {"description": f"{model.title or model.name}. {model.definition}"}
    limits: list[dict[str, Any]] = [
        {"type": "object", "properties": given, "required": needed, "additionalProperties": False}
    ]
    main = _main(model)
    if main is not None:
        limits.insert(0, _number(main))
    return described | {"oneOf": limits}


def _number(parameter: Parameter | None) -> dict[str, Any]:
    """A limit: as a number, or as a text that is one (`1/3`, `20%`)."""
    if parameter is None or parameter.kind == "text":
        return {"type": ["string", "number"]}
    return {"$ref": f"#/$defs/{_range_name(parameter)}", "description": parameter.help}


def _numbers() -> dict[str, Any]:
    """Every range that limits lie in, by its name: a number, or a text that is one."""
    parameters = [one for model in REGISTRY.values() for one in model.parameters if one.kind != "text"]
    ranges = {"number": {"type": "number"}} | {_range_name(one): _range(one) for one in parameters}
    return {name: {"oneOf": [bounds, {"$ref": "#/$defs/number_text"}]} for name, bounds in ranges.items()}


def _range(parameter: Parameter) -> dict[str, Any]:
    whole = parameter.kind == "integer"
    ends = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    bounds = {name: int(end) if whole else float(end) for name, end in ends.items() if end is not None}
    return {"type": "integer" if whole else "number", **bounds}


def _range_name(parameter: Parameter) -> str:
    """For instance `integer_from_1` or `number_from_0_to_1`."""
    kind = "integer" if parameter.kind == "integer" else "number"
    ends = (("from", parameter.minimum), ("to", parameter.maximum))
    return "_".join((kind, *(f"{word}_{float(end):g}" for word, end in ends if end is not None)))


def _column_sets() -> dict[str, Any]:
    return _object(
        {
            "max_size": _WHOLE | {"description": "How many columns an attacker knows at most."},
            "k": _WHOLE | {"description": "How many must share the values at least."},
            "share": _SHARE,
            "among": {"oneOf": [{"enum": ["quasi_identifiers", "all"]}, {"type": "array", "items": TEXT}]},
            "exclude": TEXT_OR_TEXTS,
        },
        "max_size",
    )


def _aggregates() -> dict[str, Any]:
    own: dict[str, dict[str, Any]] = {name: key_of(one) for name, one in OPTIONS.items()}
    own["before"] = TEXT_OR_TEXTS | {"description": "Older releases: of the same connection, or files."}
    own["linked"] = TEXT_OR_TEXTS | {"description": "Further tables of the same people, judged together with this one."}
    own["show_cells"] = {"type": "boolean", "description": "Name unsafe cells by their dimensions in what is told."}
    own["require"] = TEXT_OR_TEXTS | {"description": f"Rules for cells: {', '.join(CELL_RULES)}."}
    return _object(own, "by", "require")


def _loss() -> dict[str, Any]:
    own: dict[str, Any] = {
        "original": TEXT | {"description": "The table before it was made safe: of the same connection, or a file."},
        "measure": {"enum": list(OF_RELEASES), "description": "As for sqlaudit compare."},
        "of": {"enum": list(FIGURES), "description": "The value, its mean, or its share of complete suppression."},
        "at_most": _NUMBER,
        "at_least": _NUMBER,
        "column": TEXT | {"description": "Of one quasi-identifier; without it of all together."},
        **keys_of(CompareRequest, "key", "by_position"),
        "hierarchies": TEXT | {"description": "A file or folder; without it those of the inputs."},
        **keys_of(CompareRequest, "distance"),
    }
    bounds = [{"required": ["at_most"]}, {"required": ["at_least"]}]
    return _object(own, "original", "measure") | {"oneOf": bounds}


def _series() -> dict[str, Any]:
    own: dict[str, Any] = {
        "m": _WHOLE | {"description": "Fewest rows of a class, all with different sensitive values."},
        "before": TEXT_OR_TEXTS
        | {"description": "All older releases of this table: of the same connection, or files."},
        "entity": TEXT | {"description": "The column of persons, where the table names none."},
        "counterfeits": {"type": "boolean", "description": "Rows without an entity are counterfeits."},
    }
    return _object(own, "m", "before")


def _exception() -> dict[str, Any]:
    bound = {"type": ["integer", "string"], "description": "How many rows may fall short: 12 or 1%."}
    identifier = TEXT | {"description": "A direct identifier that may be in the table for a while."}
    own = {"requirement": TEXT, "identifier": identifier, "sensitive": TEXT, "until": _DATE, "reason": TEXT}
    subjects = [{"required": ["requirement"]}, {"required": ["identifier"]}]
    return _object({**own, "up_to": bound}, "until", "reason") | {"oneOf": subjects}
