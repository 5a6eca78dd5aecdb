"""The JSON Schema of a policy, for editors: made from the registry of models, so that it never falls behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlaudit.base.spec import FILE_FORMATS, KnownRows, NullPolicy
from sqlaudit.gates.cell_limits import OPTIONS
from sqlaudit.gates.connections import KINDS
from sqlaudit.gates.losses import FIGURES
from sqlaudit.gates.requirements import SEVERITIES
from sqlaudit.models.base import Model, Parameter
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.models.registry import CELL_RULES, REGISTRY
from sqlaudit.models.requirements import PRESETS
from sqlaudit.release.compare.request import DISTANCES

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string", "minLength": 1}
_WHOLE = {"type": "integer", "minimum": 1}
_TEXTS = {"$ref": "#/$defs/texts"}
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
_ROLE_WORDS = {
    "quasi_identifiers": "What others may know about a person: columns or SQL expressions.",
    "sensitive": "What others should not learn; each column is tested on its own.",
    "identifiers": "What names a person, and must not be published.",
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
                "items": {"oneOf": [_TEXT, {"$ref": "#/$defs/requirement"}, {"$ref": "#/$defs/requirements"}]},
            },
            "requirement": _requirement(),
            "column_sets": _column_sets(),
            "loss": _loss(),
            "aggregates": _aggregates(),
            "exception": _exception(),
            "texts": {"oneOf": [_TEXT, {"type": "array", "items": _TEXT}]},
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
    own: dict[str, Any] = {kind: _TEXT | {"description": words[kind]} for kind in KINDS}
    own["password_env"] = _TEXT | {"description": "The environment variable with the password for url or service."}
    own["target"] = _TEXT | {"description": "The target of the dbt profile."}
    own["profiles_dir"] = _TEXT | {"description": "The folder of profiles.yml."}
    own["description"] = _TEXT
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
        "tags": _TEXTS | {"description": "For --select tag:…"},
        "owner": _TEXT | {"description": "Who answers for it."},
    }


def _persons() -> dict[str, Any]:
    kinds = ("table", "file", "query")
    own: dict[str, Any] = {
        "table": _TEXT | {"description": "A table or view of the connection, with a row a person."},
        "file": _TEXT | {"description": "A file, from the folder of the policy."},
        "query": _TEXT | {"description": "One SELECT over the connection; give it a name."},
        "connection": _TEXT | {"description": "A name under connections."},
        "name": _TEXT | {"description": "What errors call it."},
        "description": _TEXT,
        "where": _TEXT | {"description": "Only the rows for which this SQL condition holds."},
        "read": {"$ref": "#/$defs/read"},
        "entity": _TEXT | {"description": "The column that says who somebody is, of the same name in all tables."},
        "static": _TEXTS | {"description": "What is known of a person beside what other tables say."},
    }
    return _object(own, "entity") | {"oneOf": [{"required": [kind]} for kind in kinds]}


def _nulls() -> dict[str, Any]:
    return {"enum": [one.value for one in NullPolicy], "description": "How a missing quasi-identifier is read."}


def _requirements() -> dict[str, Any]:
    return {"$ref": "#/$defs/requirements", "description": "What must hold."}


def _all_named() -> dict[str, Any]:
    return {"type": "boolean", "description": "A column without a role fails, unless it is insensitive."}


def _defaults() -> dict[str, Any]:
    connection = _TEXT | {"description": "The connection of tables that name none."}
    return _object(
        {
            "connection": connection,
            "nulls": _nulls(),
            "requirements": _requirements(),
            "all_columns_named": _all_named(),
            **_common(),
        }
    )


def _table() -> dict[str, Any]:
    kinds = ("table", "file", "query")
    own: dict[str, Any] = {
        "table": _TEXT | {"description": "A table or view of the connection."},
        "file": _TEXT
        | {"description": "A CSV, Parquet, JSON or Arrow file, from the folder of the policy; globs work."},
        "query": _TEXT | {"description": "One SELECT over the connection; give it a name."},
        "connection": _TEXT | {"description": "A name under connections."},
        "name": _TEXT | {"description": "What reports call it; unique in the policy."},
        "description": _TEXT,
        "where": _TEXT | {"description": "Only the rows for which this SQL condition holds."},
        "read": {"$ref": "#/$defs/read"},
        **{role: _TEXTS | {"description": words} for role, words in _ROLE_WORDS.items()},
        "entity": _TEXT | {"description": "The column that says which person a row is about."},
        "known_rows": {
            "enum": [one.value for one in KnownRows],
            "description": "With entity: for whom is judged who knows one row of a person, all rows, or the worse.",
        },
        "insensitive": _TEXTS | {"description": "Columns that were looked at and need no role."},
        "all_columns_named": _all_named(),
        "persons": {"type": "boolean", "description": "false: no table under persons is about those of this one."},
        "joint": {"type": "boolean", "description": "Other sensitive columns count as quasi-identifiers."},
        "nulls": _nulls(),
        "sampling_fraction": {
            "type": ["number", "string"],
            "description": "The table is a sample: its share of the population, 0.01 or 1%.",
        },
        "population_size": {
            "type": "integer",
            "minimum": 1,
            "description": "The table is a sample: how many people the population has.",
        },
        "weights": _TEXT
        | {"description": "The table is a sample: the column that says how many people a row stands for."},
        "derived_from": _TEXTS | {"description": "Names of tables that this one is made of, for --select name+"},
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
    return _object(
        {
            "format": {"enum": list(FILE_FORMATS)},
            "delimiter": {"type": "string", "description": "One character, or tab."},
            "encoding": _TEXT,
            "null_values": {"type": "array", "items": {"type": "string"}, "description": "Texts that mean NULL."},
            "all_text": {"type": "boolean"},
            "header": {"type": "boolean"},
            "hive_partitioning": {"type": "boolean", "description": "Folders named column=value are columns, too."},
        }
    )


def _requirement() -> dict[str, Any]:
    own: dict[str, Any] = {
        **{name: schema for model in REGISTRY.values() for name, schema in _model_names(model)},
        "column_sets": {"$ref": "#/$defs/column_sets"},
        "loss": {"$ref": "#/$defs/loss"},
        "aggregates": {"$ref": "#/$defs/aggregates"},
        "preset": {"enum": list(PRESETS), "description": "A published rule."},
        "warn_if": _CONDITION,
        "error_if": _CONDITION,
        "sensitive": _TEXTS | {"description": "Only for these sensitive columns."},
        "description": _TEXT,
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
            "among": {"oneOf": [{"enum": ["quasi_identifiers", "all"]}, {"type": "array", "items": _TEXT}]},
            "exclude": _TEXTS,
        },
        "max_size",
    )


def _aggregates() -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {"flag": {"type": "boolean"}, "names": _TEXTS, "texts": _TEXTS}
    own: dict[str, dict[str, Any]] = {
        name: kinds.get(one.kind.name, _TEXT) | {"description": one.help} for name, one in OPTIONS.items()
    }
    own["negative"] = {"enum": list(OPTIONS["negative"].kind.words), "description": OPTIONS["negative"].help}
    own["before"] = _TEXTS | {"description": "Older releases: of the same connection, or files."}
    own["linked"] = _TEXTS | {"description": "Further tables of the same people, judged together with this one."}
    own["show_cells"] = {"type": "boolean", "description": "Name unsafe cells by their dimensions in what is told."}
    own["require"] = _TEXTS | {"description": f"Rules for cells: {', '.join(CELL_RULES)}."}
    return _object(own, "by", "require")


def _loss() -> dict[str, Any]:
    own: dict[str, Any] = {
        "original": _TEXT | {"description": "The table before it was made safe: of the same connection, or a file."},
        "measure": {"enum": list(OF_RELEASES), "description": "As for sqlaudit compare."},
        "of": {"enum": list(FIGURES), "description": "The value, its mean, or its share of complete suppression."},
        "at_most": _NUMBER,
        "at_least": _NUMBER,
        "column": _TEXT | {"description": "Of one quasi-identifier; without it of all together."},
        "key": _TEXTS | {"description": "The columns that name a row in both tables."},
        "by_position": {"type": "boolean", "description": "Rows correspond by their order."},
        "hierarchies": _TEXT | {"description": "A file or folder; without it those of the inputs."},
        "distance": {"enum": list(DISTANCES), "description": "Of sensitive values."},
    }
    bounds = [{"required": ["at_most"]}, {"required": ["at_least"]}]
    return _object(own, "original", "measure") | {"oneOf": bounds}


def _exception() -> dict[str, Any]:
    bound = {"type": ["integer", "string"], "description": "How many rows may fall short: 12 or 1%."}
    identifier = _TEXT | {"description": "A direct identifier that may be in the table for a while."}
    own = {"requirement": _TEXT, "identifier": identifier, "sensitive": _TEXT, "until": _DATE, "reason": _TEXT}
    subjects = [{"required": ["requirement"]}, {"required": ["identifier"]}]
    return _object({**own, "up_to": bound}, "until", "reason") | {"oneOf": subjects}
