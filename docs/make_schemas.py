"""Writes the JSON Schema of each result, `schema.json` in the folder of its feature, from the result classes.

python docs/make_schemas.py          write the files
python docs/make_schemas.py FOLDER   write them below another folder

Types come from annotations, keys from the metadata of fields (`sqlaudit/base/result.py`), descriptions from the
`Args:` of the class, or the docstring of a property. What `Annotated` adds to a Python type is of JSON: keywords such
as `json_schema(minimum=1)`, or a type that stands in its place. Whole numbers are 0 or more where nothing else is said.
"""

from __future__ import annotations

import json
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlaudit.base.result import AS_TEXT, OR_NULL, Documented, DocumentPart, Result, parts_of

ROOT = Path(__file__).parents[1]
SCHEMAS = {
    "audits/schema.json": "audits.result:AuditResult",
    "audits/criteria/schema.json": "audits.criteria.criteria:CriteriaResult",
    "audits/disclosure/schema.json": "audits.disclosure.results:DisclosureResult",
    "audits/disclosure/what_if_schema.json": "audits.disclosure.what_if:WhatIfResult",
    "certificates/schema.json": "certificates.result:VerifyResult",
    "column_sets/schema.json": "column_sets.result:ColumnSets",
    "column_sets/records/schema.json": "column_sets.records.result:RecordRisk",
    "cubes/schema.json": "cubes.result:CubeResult",
    "events/schema.json": "events.result:PersonsResult",
    "gates/schema.json": "gates.result:GateResult",
    "hierarchies/schema.json": "hierarchies.result:HierarchyResult",
    "lattices/schema.json": "lattices.result:LatticeResult",
    "models/schema.json": "cli.models:ModelList",
    "profiles/schema.json": "profiles.result:ProfileResult",
    "release/attacks/schema.json": "release.attacks.result:AttackResult",
    "release/compare/schema.json": "release.compare.result:CompareResult",
    "release/synthetic/schema.json": "release.synthetic.result:SyntheticResult",
    "release/series/schema.json": "release.series.result:ReleasesResult",
    "remedies/cloak/schema.json": "remedies.cloak.result:CloakResult,BoxAudit",
    "remedies/recode/schema.json": "remedies.recode.result:RecodeResult",
    "remedies/suppress/schema.json": "remedies.suppress.result:SuppressResult",
    "tabular/schema.json": "tabular.result:AggregatesResult",
}
WIDTH = 120
ONLY_ADDED = "Within {} keys are only ever added; readers should ignore those they do not know."
REPORT = {
    "description": "The same for people: what `sqlaudit report` lays out as a page. Its texts may change at any time.",
    "type": "object",
    "required": ["headline", "lead", "worst", "sections"],
}
EXACT = "The same as a fraction; null when it has more than 1,000 digits above or below the line."
SCALARS: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    Fraction: {"type": "number"},
    Decimal: {"type": "string"},
    str: {"type": "string"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}
TEXT_OR_NULL = {"type": ["string", "null"]}
Schema = dict[str, Any]


def main() -> None:
    """Write the schemas."""
    below = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "sqlaudit"
    for path, schema in schemas().items():
        (below / path).parent.mkdir(parents=True, exist_ok=True)
        (below / path).write_text(laid_out(schema) + "\n", encoding="utf-8")


def laid_out(value: Any, indent: int = 0) -> str:
    """JSON in which whatever fits into a line stands in one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, list):
        parts, ends = [laid_out(one, indent + 2) for one in value], "[]"
    else:
        parts, ends = [f"{json.dumps(name)}: {laid_out(one, indent + 2)}" for name, one in value.items()], "{}"
    return f"{ends[0]}\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * indent}{ends[1]}"


def schemas() -> dict[str, Schema]:
    """Every schema by its file."""
    found: dict[str, list[Any]] = {}
    for path, named in SCHEMAS.items():
        module, names = named.split(":")
        loaded = import_module(f"sqlaudit.{module}")
        found[path] = [getattr(loaded, name) for name in names.split(",")]
    for file in (ROOT / "sqlaudit").rglob("*.py"):
        if "(Documented)" in file.read_text(encoding="utf-8"):
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    known = {one.__name__: one for one in _below(Documented)}
    listed = {kind for kinds in found.values() for kind in kinds}
    if missing := [one.__name__ for one in _below(Result) if "schema" in vars(one) and one not in listed]:
        raise TypeError(f"not in SCHEMAS: {missing}")
    return {path: SchemaMaker(known).whole(kinds) for path, kinds in found.items()}


def _below(kind: type) -> Iterator[type]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


class SchemaMaker:
    """Makes one schema.

    Args:
        known: classes by their names, for annotations of what is imported for types only.
    """

    def __init__(self, known: Mapping[str, type]) -> None:
        self._known = known
        self._shared: dict[str, Schema] = {}
        self._named: dict[str, type] = {}

    def whole(self, kinds: Sequence[Any]) -> Schema:
        """The schema of a document of one of these classes; what they have in common is written once."""
        documents = [self._object(kind) for kind in kinds]
        titles = [document["properties"]["schema"]["const"] for document in documents]
        for title, document in zip(titles, documents, strict=True):
            document["description"] += f" {ONLY_ADDED.format(title)}"
            document["properties"] = {"report": REPORT} | document["properties"]
        name = titles[0].removesuffix("/1").removeprefix("sqlaudit").removeprefix("-") or "audit"
        return {
            "$comment": "generated by docs/make_schemas.py",
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:sqlaudit:schema:{name}:1",
            "title": titles[0],
            **(documents[0] if len(documents) == 1 else {"oneOf": documents}),
            **({"$defs": dict(sorted(self._shared.items()))} if self._shared else {}),
        }

    def _object(self, kind: Any) -> Schema:
        """A class as an object without further keys."""
        made = _described(_empty_object(), _summary(kind))
        if typing.is_typeddict(kind):
            texts, hints = _texts(kind, kind.__annotations__), self._hints(kind)
            for name, of in hints.items():
                optional = typing.get_origin(of) is typing.NotRequired
                schema = self._of(typing.get_args(of)[0] if optional else of)
                _put(made, name, _described(schema, texts.get(name)), name in kind.__required_keys__ and not optional)
            return made
        texts = _texts(kind, [one.name for base in kind.__mro__ if is_dataclass(base) for one in fields(base)])
        hints = self._hints(kind)
        for part in parts_of(kind):
            self._add(made, kind, part, hints, texts)
        return made

    def _add(
        self, made: Schema, kind: Any, part: DocumentPart, hints: Mapping[str, Any], texts: Mapping[str, str]
    ) -> None:
        """One field or method of a class, as it is told."""
        if part.name == "_schema":
            _put(made, "schema", {"const": kind.schema})
            return
        how, text = part.how, texts.get(part.name)
        if part.name in hints and part.name in {one.name for one in fields(kind)}:
            of = hints[part.name]
        else:
            member = getattr(kind, part.name)
            method = getattr(member, "fget", None) or getattr(member, "func", member)
            of = self._hints(method)["return"]
            text = text or _summary(method)
        if how.get("here"):
            inner = self._object(of)
            for name, schema in inner["properties"].items():
                _put(made, name, schema, name in inner["required"])
            return
        schema = self._shown(of, how)
        if how.get("if_any"):
            schema = _without_null(schema)
            there: dict[str, Schema] = {"array": {"minItems": 1}, "boolean": {"const": True}}
            schema = schema | there.get(str(schema.get("type")), {})
        _put(made, how.get("key", part.name), _described(schema, text), not how.get("if_any"))
        if "exact" in how:
            _put(made, how["exact"], {"description": EXACT} | TEXT_OR_NULL)

    def _shown(self, of: Any, how: Mapping[str, Any]) -> Schema:
        """A type as it is told: what its change returns, where that is said."""
        change: Callable[[Any], Any] | None = how.get("shown")
        if "objects" in how:
            names, types_of = how["objects"], _pair(of)
            items = _empty_object()
            for name, member in zip(names, types_of, strict=True):
                _put(items, name, self._of(member))
            return {"type": "array", "items": items}
        if change is OR_NULL["shown"]:
            return _with_null(self._of(of))
        if change is AS_TEXT["shown"]:
            return _as_text(self._of(of))
        if change is len:
            return SCALARS[int]
        if change is dict:
            return self._of(Mapping[*_pair(of)])  # type: ignore[misc]
        returned = self._hints(change).get("return", Any) if change is not None else Any
        return self._of(of if returned is Any else returned)

    def _of(self, kind: Any) -> Schema:
        """The schema of a type."""
        origin, given = typing.get_origin(kind), typing.get_args(kind)
        if kind in SCALARS:
            return SCALARS[kind]
        if origin is not None:
            return self._built(origin, given)
        if kind in (list, tuple):
            return {"type": "array"}
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [one.value for one in kind]}
        return self._reference(kind)

    def _built(self, origin: Any, given: tuple[Any, ...]) -> Schema:
        """A type that is made of others."""
        if origin is typing.Annotated:
            return self._annotated(*given)
        if origin is typing.Literal:
            return {"enum": list(given)} if len(given) > 1 else {"const": given[0]}
        if origin in (dict, Mapping):
            return self._mapping(*given)
        parts = [self._of(one) for one in given if one is not Ellipsis]
        if origin in (typing.Union, types.UnionType):
            return _union(parts)
        if origin is tuple and Ellipsis not in given:
            return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
        return {"type": "array"} | ({"items": parts[0]} if parts[0] else {})

    def _annotated(self, kind: Any, *added: Any) -> Schema:
        instead = [one for one in added if not isinstance(one, tuple)]
        made = self._of(instead[0] if instead else kind)
        for keywords in (dict(one) for one in added if isinstance(one, tuple)):
            made = made | keywords
        return {name: value for name, value in made.items() if value is not None}

    def _mapping(self, name: Any, value: Any) -> Schema:
        names, values = self._of(name), self._of(value)
        out: Schema = {"type": "object"}
        if "enum" in names:
            out["propertyNames"] = names
        return out | ({"additionalProperties": values} if values else {})

    def _reference(self, kind: Any) -> Schema:
        if not (isinstance(kind, type) and (typing.is_typeddict(kind) or issubclass(kind, Documented))):
            raise TypeError(f"{kind} has no JSON Schema")
        name = getattr(kind, "schema_name", re.sub(r"(?<=.)([A-Z])", r"_\1", kind.__name__.lstrip("_")).lower())
        if self._named.setdefault(name, kind) is not kind:
            raise TypeError(f"{kind} and {self._named[name]} have one name")
        if name not in self._shared:
            self._shared[name] = {}
            self._shared[name] = self._object(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _hints(self, of: Any) -> dict[str, Any]:
        return typing.get_type_hints(of, localns=dict(self._known), include_extras=True)


def _empty_object() -> Schema:
    return {"type": "object", "additionalProperties": False, "required": [], "properties": {}}


def _put(made: Schema, path: str, schema: Schema, required: bool = True) -> None:
    """A key of an object; `target.rows` is the key `rows` of an object `target`."""
    *outer, last = path.split(".")
    for name in outer:
        if name not in made["properties"]:
            made["properties"][name] = _empty_object()
            made["required"].append(name)
        made = made["properties"][name]
    made["properties"][last] = schema
    if required:
        made["required"].append(last)


def _pair(of: Any) -> tuple[Any, ...]:
    """The types of the tuples in a sequence, or of the items of a mapping."""
    given = typing.get_args(of)
    return given if typing.get_origin(of) is Mapping else typing.get_args(given[0])


def _described(schema: Schema, text: str | None) -> Schema:
    return {"description": text} | schema if text else schema


def _union(schemas: list[Schema]) -> Schema:
    """Any of these; null is one more type, or one more value, where that is possible."""
    if {"type": "number"} in schemas:
        schemas = [one for one in schemas if one.get("type") != "integer"]
    distinct = [one for place, one in enumerate(schemas) if one not in schemas[:place]]
    null = SCALARS[type(None)] in distinct
    others = [one for one in distinct if one != SCALARS[type(None)]]
    if len(others) > 1 and all(set(one) == {"type"} for one in others):
        others = [{"type": [one["type"] for one in others]}]
    if len(others) > 1:
        return {"anyOf": distinct}
    return _with_null(others[0]) if null else others[0]


def _with_null(schema: Schema) -> Schema:
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    if "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]} if schema else {}
    of = schema["type"]
    return schema | {"type": [*([of] if isinstance(of, str) else of), "null"]}


def _without_null(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return _union([one for one in schema["anyOf"] if one != SCALARS[type(None)]])
    if "enum" in schema:
        return schema | {"enum": [one for one in schema["enum"] if one is not None]}
    if isinstance(schema.get("type"), list):
        left = [one for one in schema["type"] if one != "null"]
        return schema | {"type": left[0] if len(left) == 1 else left}
    return schema


def _as_text(schema: Schema) -> Schema:
    """What becomes of it when every value becomes a text, and what is missing stays so."""
    of = schema.get("type", [])
    for holder, kind in (("items", "array"), ("additionalProperties", "object")):
        if of == kind or kind in of:
            return schema | {holder: _as_text(schema.get(holder, {}))}
    return TEXT_OR_NULL


def _summary(of: Any) -> str:
    """The first paragraph of a docstring."""
    return _sentence((of.__doc__ or "").strip().partition("\n\n")[0])


def _texts(kind: Any, names: Sequence[str]) -> dict[str, str]:
    """What the `Args:` of a class and of its bases say of each field; several may stand in a line, with one text."""
    found: dict[str, str] = {}
    one_of = "|".join(sorted(set(names), key=len, reverse=True)) or "(?!)"
    start = re.compile(rf"(?:^|(?<=[.;…]) )((?:{one_of})(?:, (?:{one_of}))*): ")
    for base in reversed(kind.__mro__ if isinstance(kind, type) else ()):
        _, args, rest = (base.__doc__ or "").partition("Args:\n")
        if not args or base.__module__ == "builtins":
            continue
        text = " ".join(re.split(r"\n\s*\n", rest)[0].split())
        mentions = list(start.finditer(text))
        for mention, following in zip(mentions, [*mentions[1:], None], strict=True):
            said = text[mention.end() : following.start() if following else None]
            found |= {name: _sentence(said) for name in mention[1].split(", ")}
    return found


def _sentence(text: str) -> str:
    text = re.sub(r"\bNone\b", "null", " ".join(text.split())).rstrip(";. ")
    return f"{text[:1].upper()}{text[1:]}." if text else ""


if __name__ == "__main__":
    main()
