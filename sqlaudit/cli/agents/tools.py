"""The tools: which options of which request an agent may give, and what it is told of them.

Names of columns, numbers and words are taken. No SQL is: a condition, an expression or a query tells of single rows,
figure by figure. Nor is what shows values, reads another file, or makes a figure that is a value of a column itself
(sums of weights, distances between values).
"""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlaudit
from sqlaudit.audits.disclosure.request import DisclosureRequest
from sqlaudit.base.columns_of import find_column, unknown_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import expanded, is_file, is_folder, resolved
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest
from sqlaudit.base.options import NAMES, Option, option, options_of
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import HOLD, Coverage, Limits, ReadOptions, Roles, Sampling, Target
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb.paths import in_folder, missing
from sqlaudit.events.request import PersonsRequest
from sqlaudit.profiles.request import ProfileRequest

# The tables that agents may ask about: fixed when the server starts, by the person who starts it.
#
# An agent gives a name of this list and never a path, so that there is no path of its to be looked at. What lies
# behind a name is looked at again for each call: a file in whose place somebody put a link leads elsewhere.

MOST_TABLES = 200
"""More than this no agent reads through; who offers them names fewer."""
LONGEST = 80
"""Signs of a text of an agent that a sentence repeats."""


@dataclass(frozen=True)
class Offered:
    """What agents may ask about.

    Args:
        tables: by the name that agents give: a table or view as the database knows it, or the absolute path of a file.
        db: what a driver connects with; None for files. read: how files are read. limits: of each call.
    """

    tables: Mapping[str, str]
    db: str | None = None
    read: ReadOptions = ReadOptions()
    limits: Limits = Limits()

    def target(self, name: str) -> Target:
        """The table of a name, as it may be opened now.

        Raises:
            UsageError: there is no such name, or another file lies in its place.
        """
        relation = self.tables.get(name)
        if relation is None:
            hint = closest(name[:LONGEST], self.tables) or f" There are: {', '.join(list(self.tables)[:12])}."
            raise UsageError(
                f"There is no table {name[:LONGEST]!r} here. The server offers a fixed list of tables.{hint}"
            )
        if self.db is None and not _as_it_was(relation):
            raise UsageError(f"The file of {name!r} is missing or was replaced by a link. It was not read.")
        if self.db is not None and Path(self.db).is_absolute() and not _as_it_was(self.db):
            raise UsageError("The file of the database is missing or was replaced by a link. It was not read.")
        return Target(relation=relation, read=self.read, label=name)


def _as_it_was(path: str) -> bool:
    """Whether a path that had no link in it still has none, and leads to a file."""
    return is_file(path) and str(resolved(path)) == path


def database(text: str) -> str:
    """What a driver connects with: the file of a database by its full path, anything else as it was given."""
    return str(resolved(expanded(text))) if is_file(expanded(text)) else text


def files_of(names: Sequence[str]) -> dict[str, str]:
    """The files behind names of files and folders: absolute paths by what agents call them.

    A file is called as it was named, one of a folder by its path in there. A link is followed where a person named it;
    links in folders are left out, and so are names that could be read as patterns.

    Raises:
        UsageError: there is no such file, a folder has none, or two have one name.
    """
    found: dict[str, str] = {}
    for name in names:
        path = expanded(name)
        listed = list(_in(path)) if is_folder(path) else [(name, path)]
        if not listed or not all(is_file(one) for _, one in listed):
            raise missing(name)
        for label, one in listed:
            if found.setdefault(label, str(resolved(one))) != str(resolved(one)):
                raise UsageError(f"Two files are called {label!r}. Name only one of their folders.")
    return found


def _in(folder: Path) -> Iterator[tuple[str, Path]]:
    root = resolved(folder)
    for path in in_folder(root):
        label = str(path.relative_to(root))
        if resolved(path) == path and not glob.has_magic(label):
            yield label, path


def not_too_many(tables: Mapping[str, str]) -> Mapping[str, str]:
    """The tables, when an agent can be told of them.

    Raises:
        UsageError: there are too many, or none.
    """
    if not tables:
        raise UsageError("There is no table to offer.")
    if len(tables) > MOST_TABLES:
        raise UsageError(
            f"There are {len(tables)} tables, but at most {MOST_TABLES} can be offered to agents. Name those to offer."
        )
    return tables


MOST_NAMES = 500
LONGEST_NAME = 300
_ONE_COLUMN = ("entity", "sequence")
_OTHER_TABLE = "static_from"
_NOT_FOR_AGENTS = "Agents cannot use conditions, queries, expressions, paths or values."
_WHOLE = {"knowledge": (0, 200), "known": (1, 6)}
"""Numbers of things that people may also write as ranges, with their bounds."""


@dataclass(frozen=True)
class _Required:
    """What must hold."""

    require: tuple[str, ...] = option(
        (), NAMES, "Requirements, for example k=5, l=3 or t=0.2. The result then has a verdict.", HOLD
    )


@dataclass(frozen=True)
class AgentTool:
    """A tool.

    Args:
        name, title, help: for the agent. options: what it may give besides `table`, by name. needed: what it must give.
        function: the public function that it calls. fixed: what it calls that with besides.
    """

    name: str
    title: str
    help: str
    options: Mapping[str, Option]
    needed: tuple[str, ...]
    function: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def call(self, engine: Engine, target: Target, given: Mapping[str, Any]) -> Any:
        """The result for these arguments."""
        exact = {"threshold": Decimal(str(given["threshold"]))} if "threshold" in given else {}
        return getattr(sqlaudit, self.function)(target, db=engine, **{**given, **exact, **self.fixed})

    def schema(self, tables: Iterable[str]) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        named = {"type": "string", "enum": list(tables)}
        properties: dict[str, Any] = {"table": {**named, "description": "The table, by its name here."}}
        for name, one in self.options.items():
            shape = named if name == _OTHER_TABLE else _shape(one)
            properties[name] = {**shape, "description": one.help}
        return {
            "type": "object",
            "properties": properties,
            "required": ["table", *self.needed],
            "additionalProperties": False,
        }

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, when each is one of the tool's and of its shape; bounds are looked at with the request.

        Raises:
            UsageError: one is not, or one that it needs is missing.
        """
        for name in given:
            if name != "table" and name not in self.options:
                raise UsageError(f"{self.name} takes no {name[:LONGEST]!r}. {_NOT_FOR_AGENTS}")
        for name in ("table", *self.needed):
            if not given.get(name):
                raise UsageError(f"{self.name} needs {name!r}.")
        if not isinstance(given["table"], str):
            raise UsageError("table is the name of a table, as a text.")
        for name, value in given.items():
            if name != "table":
                _check_shape(name, _shape(self.options[name]), value)
        return dict(given)

    def check_columns(self, given: Mapping[str, Any], here: Relation, there: Relation | None) -> None:
        """Nothing when every name is the name of a column, so that none is an expression.

        Args:
            given: the arguments. here: the table. there: the table of what stays the same of persons, if another.

        Raises:
            UsageError: one is not. PermissionDenied: one that may not be read.
        """
        for name, one in self.options.items():
            if name == "require" or name not in given:
                continue
            listed = one.kind.name in ("names", "ordered")
            if listed or one.kind.name == "column" or name in _ONE_COLUMN:
                relation = there if name == "static" and there is not None else here
                for text in given[name] if listed else (given[name],):
                    if find_column(text, relation) is None:
                        raise unknown_column(text[:LONGEST], relation, name)


def _shape(one: Option) -> dict[str, Any]:
    """What an option takes, as JSON Schema."""
    kind = one.kind.name
    if one.name in _WHOLE:
        least, most = _WHOLE[one.name]
        return {"type": "integer", "minimum": least, "maximum": most}
    if kind in ("names", "ordered"):
        items = {"type": "string", "maxLength": LONGEST_NAME}
        return {"type": "array", "items": items, "maxItems": MOST_NAMES}
    if kind in ("whole", "range", "most"):
        bounds = {"minimum": one.least, "maximum": one.most}
        return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}
    if kind in ("choice", "folding"):
        return {"type": "string", "enum": list(one.kind.words)}
    if kind in ("share", "probability", "seconds"):
        return {"type": "number"}
    return {"type": "boolean"} if kind == "flag" else {"type": "string", "maxLength": LONGEST_NAME}


_PYTHON: Mapping[str, tuple[tuple[type, ...], str]] = {
    "array": ((list,), "a list of texts"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "string": ((str,), "a text"),
    "boolean": ((bool,), "true or false"),
}


def _check_shape(name: str, shape: Mapping[str, Any], value: Any) -> None:
    types, said = _PYTHON[shape["type"]]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise UsageError(f"{name} takes {said}.")
    texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    if not all(isinstance(one, str) and one and len(one) <= LONGEST_NAME for one in texts):
        raise UsageError(f"{name} takes {said}, of 1 to {LONGEST_NAME} signs each.")
    if len(texts) > MOST_NAMES:
        raise UsageError(f"{name} takes {MOST_NAMES} names at most.")
    if isinstance(value, float) and value - value != 0:
        raise UsageError(f"{name} takes {said}.")


def _options(request: type[Any], *names: str) -> dict[str, Option]:
    known = {one.name: one for _, one in options_of(request)}
    return {name: known[name] for name in names}


TOOLS = {
    tool.name: tool
    for tool in (
        AgentTool(
            "profile",
            "Columns and proposed roles",
            "Facts of each column of a table (counts of rows, missing and different values) and its proposed role: "
            "direct identifier, quasi-identifier or sensitive attribute. Start here. Values are never shown.",
            _options(ProfileRequest, "sets"),
            (),
            "profile",
        ),
        AgentTool(
            "audit",
            "Re-identification and disclosure figures",
            "How easily people in a table can be re-identified: k-anonymity, l-diversity, t-closeness and other "
            "models, with a verdict on requirements. qi: columns that others may know about a person, sensitive: "
            "columns that they should not learn.",
            {
                **_options(Roles, "qi", "sensitive", "identifier", "entity", "joint", "nulls", "known_rows", "values"),
                **_options(Sampling, "sampling_fraction", "population_size"),
                **_options(Coverage, "accept_identifier", "insensitive", "all_columns_named"),
                **_options(_Required, "require"),
            },
            ("qi",),
            "audit",
            {"worst_classes": 0},  # which of several is told, and its counts of values, follow the order of values
        ),
        AgentTool(
            "columns",
            "Sets of columns that identify people",
            "Sets of columns with rows in groups smaller than k, or that separate all rows.",
            _options(
                ColumnRequest,
                *("columns", "exclude", "entity", "k", "tolerance", "nulls", "max_size", "identifying", "epsilon"),
                *("delta", "ratio", "find", "rank_by", "limit", "values", "start", "restarts", "seed", "time_budget"),
                "effects",
            ),
            (),
            "columns",
        ),
        AgentTool(
            "disclosure",
            "Worst-case background knowledge",
            "The most that an attacker with 0, 1, 2 … pieces of knowledge can learn about a sensitive column, exactly.",
            {
                **_options(Roles, "qi", "sensitive", "entity", "joint", "nulls", "values"),
                **_options(DisclosureRequest, "knowledge", "threshold", "weakest"),
            },
            ("qi", "sensitive"),
            "disclosure_curve",
        ),
        AgentTool(
            "persons",
            "People with many rows",
            "For tables with one row per event (visits, purchases): how few known events identify a person.",
            {
                **_options(
                    PersonsRequest,
                    *("entity", "qi", "static", "static_from", "sensitive", "known", "k", "h", "rho", "multiset"),
                    *("sequence", "random", "draws", "seed", "nulls", "effects", "time_budget", "values"),
                ),
                **_options(_Required, "require"),
            },
            ("entity", "qi"),
            "persons",
        ),
    )
}
"""The tools by name, in the order that an agent reads them."""


def in_a_call(tool: AgentTool) -> Callable[[str, tuple[object, ...]], str | None]:
    """How an agent spells the fields of a request: as arguments in JSON; others as where the server was started."""

    def spell(field: str, values: tuple[object, ...]) -> str | None:
        if field not in tool.options:
            return None
        listed = tool.options[field].kind.name in ("names", "ordered")
        given = [str(one) for one in values] if listed else values[0] if values else None
        return f'"{field}": {json.dumps(given, default=str)}' if values else f'"{field}"'

    return spell
