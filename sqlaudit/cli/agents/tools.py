"""The tools for agents: the options of requests that an agent may give, with their descriptions.

Tools accept names of columns, numbers and words, but no SQL: a condition, an expression or a query reveals single rows,
figure by figure. Nor do they accept options that show values, read another file, or return a value of a column itself
as a figure (sums of weights, distances between values). The one exception is a cube, which may be known as a whole: any
query may run on it, and on nothing else.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlaudit
from sqlaudit.audits.disclosure.request import DisclosureRequest
from sqlaudit.audits.request import AuditRequest
from sqlaudit.base.columns_of import find_column, unknown_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import expanded, is_file, is_folder, resolved
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest
from sqlaudit.base.options import Option, all_options_of
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Limits, ReadOptions, Target
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb.paths import in_folder, missing
from sqlaudit.events.request import PersonsRequest
from sqlaudit.profiles.request import ProfileRequest

# The tables that agents may ask about: fixed when the server starts, by the person who starts it.
#
# An agent gives a name of this list and never a path. The file of a name is checked again for each call, because
# somebody may have replaced it by a link to another file.

MOST_TABLES = 200
"""Largest number of tables; no agent reads through more."""
LONGEST = 80
"""Number of characters of an agent's text that a message repeats."""


@dataclass(frozen=True)
class OfferedTables:
    """The tables that agents may ask about.

    Args:
        tables: tables or views of the database, or absolute paths of files, by the name that agents give.
        db: the database that a driver connects to, None for files.
        reads: how the file of a table is read, by its name; by default where it is not here.
        limits: the budgets of each call.
        cube: the absolute path of a cube that may be queried; empty = none. columns: its columns with their types.
        origin: how it was made, as a sentence.
    """

    tables: Mapping[str, str]
    db: str | None = None
    reads: Mapping[str, ReadOptions] = field(default_factory=dict)
    limits: Limits = Limits()
    cube: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""

    def target(self, name: str) -> Target:
        """Return the table of a name, after checking that its file is still the same.

        Raises:
            UsageError: there is no such name, or the file was replaced.
        """
        relation = self.tables.get(name)
        if relation is None:
            hint = closest(name[:LONGEST], self.tables) or f" Available: {', '.join(list(self.tables)[:12])}."
            raise UsageError(
                f"There is no table {name[:LONGEST]!r} here. The server offers a fixed list of tables.{hint}"
            )
        if self.db is None and not _is_file_without_link(relation):
            raise UsageError(f"The file of {name!r} is missing or was replaced by a link. It was not read.")
        if self.db is not None and Path(self.db).is_absolute() and not _is_file_without_link(self.db):
            raise UsageError("The file of the database is missing or was replaced by a link. It was not read.")
        return Target(relation=relation, read=self.reads.get(name, ReadOptions()), label=name)

    def query(self, arguments: Mapping[str, object]) -> str:
        """Return the query of a call, after checking that the cube is still the same file.

        Raises:
            UsageError: there is no query, or another argument, or the file was replaced.
        """
        sql = arguments.get("sql")
        if set(arguments) != {"sql"} or not isinstance(sql, str) or not sql.strip():
            raise UsageError("query takes one argument, sql: a SELECT on the table cube, as a text.")
        if not _is_file_without_link(self.cube):
            raise UsageError("The file of the cube is missing or was replaced by a link. It was not read.")
        return sql

    def query_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the arguments of a query."""
        listed = ", ".join(f"{column} {kind}" for column, kind in self.columns.items())
        sql = {"type": "string", "description": f"One SELECT in DuckDB's SQL. The table cube has the columns {listed}."}
        return {"type": "object", "properties": {"sql": sql}, "required": ["sql"], "additionalProperties": False}


def _is_file_without_link(path: str) -> bool:
    """Return True if a path, which had no link in it, still has none and is a file."""
    return is_file(path) and str(resolved(path)) == path


def database(text: str) -> str:
    """Return the file of a database by its full path, any other database as it was given."""
    return str(resolved(expanded(text))) if is_file(expanded(text)) else text


def files_of(names: Sequence[str]) -> dict[str, str]:
    """Return the absolute paths of files and of the files in folders, by the names that agents use.

    A file has the name that was given, one of a folder its path inside. A link is followed if it was named; links in
    folders are left out, and so are names that could be read as patterns.

    Raises:
        UsageError: there is no such file, a folder has none, or two have one name.
    """
    paths: dict[str, str] = {}
    for name in names:
        path = expanded(name)
        files = list(_files_in_folder(path)) if is_folder(path) else [(name, path)]
        if not files or not all(is_file(file) for _, file in files):
            raise missing(name)
        for label, file in files:
            if paths.setdefault(label, str(resolved(file))) != str(resolved(file)):
                raise UsageError(f"Two files are called {label!r}. Name only one of their folders.")
    return paths


def _files_in_folder(folder: Path) -> Iterator[tuple[str, Path]]:
    """Return name and path of the files in a folder, without links and names that are patterns."""
    root = resolved(folder)
    for path in in_folder(root):
        label = str(path.relative_to(root))
        if resolved(path) == path and not glob.has_magic(label):
            yield label, path


def check_table_count(tables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the tables, if their number can be offered to agents.

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
_LISTS = ("names", "ordered", "requirements")
_ONE_COLUMN = ("entity", "sequence")
_OTHER_TABLE = "static_from"
_NOT_FOR_AGENTS = "Agents cannot use conditions, queries, expressions, paths or values."
_WHOLE_NUMBERS = {"knowledge": (0, 200), "known": (1, 6)}
"""Bounds of numbers that the command line also takes as ranges, by option."""


@dataclass(frozen=True)
class AgentTool:
    """A tool that an agent can call.

    Args:
        name, title, help: for the agent.
        options: options that it may give in addition to `table`, by name.
        needed: names of the options that it must give.
        function: the public function that the tool calls.
        fixed: further arguments of that function.
    """

    name: str
    title: str
    help: str
    options: Mapping[str, Option]
    needed: tuple[str, ...]
    function: str
    fixed: Mapping[str, object] = field(default_factory=dict)

    def call(self, engine: Engine, target: Target, arguments: Mapping[str, object]) -> object:
        """Call the public function with these arguments, and return its result."""
        exact = {"threshold": Decimal(str(arguments["threshold"]))} if "threshold" in arguments else {}
        return getattr(sqlaudit, self.function)(target, db=engine, **{**arguments, **exact, **self.fixed})

    def schema(self, tables: Iterable[str]) -> dict[str, object]:
        """Return the JSON Schema of the arguments."""
        table_names = {"type": "string", "enum": list(tables)}
        properties: dict[str, object] = {"table": {**table_names, "description": "The table, by its name here."}}
        for name, tool_option in self.options.items():
            shape = table_names if name == _OTHER_TABLE else _shape(tool_option)
            properties[name] = {**shape, "description": tool_option.help}
        return {
            "type": "object",
            "properties": properties,
            "required": ["table", *self.needed],
            "additionalProperties": False,
        }

    def checked(self, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Return the arguments, if each is one of the tool's and has its type. The request checks bounds.

        Raises:
            UsageError: an argument is not, or a needed one is missing.
        """
        for name in arguments:
            if name != "table" and name not in self.options:
                raise UsageError(f"{self.name} takes no {name[:LONGEST]!r}. {_NOT_FOR_AGENTS}")
        for name in ("table", *self.needed):
            if not arguments.get(name):
                raise UsageError(f"{self.name} needs {name!r}.")
        if not isinstance(arguments["table"], str):
            raise UsageError("table is the name of a table, as a text.")
        for name, value in arguments.items():
            if name != "table":
                _check_shape(name, _shape(self.options[name]), value)
        return dict(arguments)

    def check_columns(self, arguments: Mapping[str, Any], table: Relation, static_table: Relation | None) -> None:
        """Raise UsageError unless every name is the name of a column, so that none is an expression.

        Args:
            arguments: the arguments of the call.
            table: the table.
            static_table: the table of facts that stay the same for a person, if it is another.

        Raises:
            UsageError: one is not. PermissionDenied: one that may not be read.
        """
        for name, tool_option in self.options.items():
            if name == "require" or name not in arguments:
                continue
            is_list = tool_option.kind.name in _LISTS
            if is_list or tool_option.kind.name == "column" or name in _ONE_COLUMN:
                relation = static_table if name == "static" and static_table is not None else table
                for text in arguments[name] if is_list else (arguments[name],):
                    if find_column(text, relation) is None:
                        raise unknown_column(text[:LONGEST], relation, name)


def _shape(tool_option: Option) -> dict[str, Any]:
    """Return the JSON Schema of an option."""
    kind = tool_option.kind.name
    if tool_option.name in _WHOLE_NUMBERS:
        least, most = _WHOLE_NUMBERS[tool_option.name]
        return {"type": "integer", "minimum": least, "maximum": most}
    if kind in _LISTS:
        items = {"type": "string", "maxLength": LONGEST_NAME}
        return {"type": "array", "items": items, "maxItems": MOST_NAMES}
    if kind in ("whole", "range", "most"):
        bounds = {"minimum": tool_option.least, "maximum": tool_option.most}
        return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}
    if kind in ("choice", "folding"):
        return {"type": "string", "enum": list(tool_option.kind.words)}
    if kind in ("share", "probability", "seconds"):
        return {"type": "number"}
    return {"type": "boolean"} if kind == "flag" else {"type": "string", "maxLength": LONGEST_NAME}


_PYTHON_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "array": ((list,), "a list of texts"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "string": ((str,), "a text"),
    "boolean": ((bool,), "true or false"),
}


def _check_shape(name: str, shape: Mapping[str, Any], value: object) -> None:
    """Check the type and size of an argument.

    Raises:
        UsageError: it has another type, or is too long.
    """
    types, expected = _PYTHON_TYPES[shape["type"]]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise UsageError(f"{name} takes {expected}.")
    texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    if not all(isinstance(text, str) and text and len(text) <= LONGEST_NAME for text in texts):
        raise UsageError(f"{name} takes {expected}, of 1 to {LONGEST_NAME} characters each.")
    if len(texts) > MOST_NAMES:
        raise UsageError(f"{name} takes {MOST_NAMES} names at most.")
    if isinstance(value, float) and value - value != 0:
        raise UsageError(f"{name} takes {expected}.")


_REQUIRE_HELP = "Requirements, for example k=5, l=3 or t=0.2. The result then has a verdict."


def _options_for_agents(request: type[object], *names: str) -> dict[str, Option]:
    """Return those options of a request that agents may give, by name: what is not named here is not theirs."""
    by_name = {option.name: option for option in all_options_of(request)}
    options = {name: by_name[name] for name in names}
    if "require" in options:
        options["require"] = replace(options["require"], help=_REQUIRE_HELP)
    return options


TOOLS = {
    tool.name: tool
    for tool in (
        AgentTool(
            "profile",
            "Columns and proposed roles",
            "Facts of each column of a table (counts of rows, missing and different values) and its proposed role: "
            "direct identifier, quasi-identifier or sensitive attribute. Start here. Values are never shown.",
            _options_for_agents(ProfileRequest, "sets"),
            (),
            "profile",
        ),
        AgentTool(
            "audit",
            "Re-identification and disclosure figures",
            "How easily people in a table can be re-identified: k-anonymity, l-diversity, t-closeness and other "
            "models, with a verdict on requirements. qi: columns that others may know about a person, sensitive: "
            "columns that they should not learn.",
            _options_for_agents(
                AuditRequest,
                *("qi", "sensitive", "identifier", "entity", "joint", "nulls", "known_rows", "values"),
                *("sampling_fraction", "population_size", "accept_identifier", "insensitive", "all_columns_named"),
                "require",
            ),
            ("qi",),
            "audit",
            {"worst_classes": 0},  # which of several is told, and its counts of values, follow the order of values
        ),
        AgentTool(
            "columns",
            "Sets of columns that identify people",
            "Sets of columns with rows in groups smaller than k, or that separate all rows.",
            _options_for_agents(
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
            _options_for_agents(
                DisclosureRequest,
                *("qi", "sensitive", "entity", "joint", "nulls", "values", "knowledge", "threshold", "weakest"),
            ),
            ("qi", "sensitive"),
            "disclosure_curve",
        ),
        AgentTool(
            "persons",
            "People with many rows",
            "For tables with one row per event (visits, purchases): how few known events identify a person.",
            _options_for_agents(
                PersonsRequest,
                *("entity", "qi", "static", "static_from", "sensitive", "known", "k", "h", "rho", "multiset"),
                *("sequence", "random", "draws", "seed", "nulls", "effects", "time_budget", "values", "require"),
            ),
            ("entity", "qi"),
            "persons",
        ),
    )
}
"""The tools by name, in the order that an agent reads them."""
QUERY = "query"
QUERY_TITLE = "Any query on the published cube"
QUERY_HELP = (
    "Run any SELECT on the cube, which its owner has published: groups of people with their numbers of people and of "
    "rows, and the sum and count of each measure. A mean is a sum divided by its count. At most 1,000 rows come back."
)
"""The tool for a cube, which is no command: the cube may be known, so its answers have values."""


def in_a_call(tool: AgentTool) -> Callable[[str, tuple[object, ...]], str | None]:
    """Return a function that spells fields of a request as JSON arguments. Other fields keep the server's spelling."""

    def spell(field: str, values: tuple[object, ...]) -> str | None:
        if field not in tool.options:
            return None
        is_list = tool.options[field].kind.name in _LISTS
        texts = [str(value) for value in values] if is_list else values[0] if values else None
        return f'"{field}": {json.dumps(texts, default=str)}' if values else f'"{field}"'

    return spell
