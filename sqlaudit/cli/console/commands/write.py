"""`\\report`, `\\save`, `\\compile`, `\\sql`, `\\o`: what a session leaves behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import sqlglot

from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_destination, exists, expanded, write_text
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import KnownRows, NullPolicy, ReadOptions, Roles, Sampling, Target
from sqlaudit.base.version import __version__
from sqlaudit.cli.console.screen import report_of
from sqlaudit.cli.console.session import Command, Session, State
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.cli.init import beside, connection_of
from sqlaudit.cli.output import output_for
from sqlaudit.cli.session import statement_text
from sqlaudit.gates.nodes import yaml_text
from sqlaudit.reports.document import limit

# The roles and requirements of a session as the text of a policy.


def policy_text(state: State, target: Target, workspace: Workspace, path: Path, variable: str = "") -> str:
    """A policy with one table.

    Args:
        state: roles and requirements. target: the relation. workspace: where it is. path: where the policy will be.
        variable: the environment variable that holds the database's URL; empty = the URL or file itself is written.

    Raises:
        UsageError: nothing is required, or the URL has a password, which has no place in a policy.
    """
    if not state.requirements:
        raise UsageError("No requirement is set. Set one with \\require, for example \\require k=5.")
    folder = path.absolute().parent
    return "\n".join([*_head(workspace.db, variable, folder), *_table(state, target, workspace, folder)]) + "\n"


def _head(db: str | None, variable: str, folder: Path) -> Iterator[str]:
    yield "# Requirements for the publication of this table. `sqlaudit test` checks them."
    yield "version: 1"
    yield ""
    if db is None:
        return
    named = ", and name it: \\save policy.yml CLINIC_URL."
    kind, value = ("env", variable) if variable else connection_of(db, named)
    yield "connections:"
    yield f"  main: {{{kind}: {yaml_text(beside(value, folder) if kind == 'duckdb' else value)}}}"
    yield ""


def _table(state: State, target: Target, workspace: Workspace, folder: Path) -> Iterator[str]:
    roles, in_database = state.roles, bool(workspace.db)
    yield "tables:"
    if target.query and not in_database:
        raise UsageError(
            "A policy can have a file and a condition, but no query over files. Use \\use SELECT * FROM the file, with "
            "a WHERE if needed, and put expressions into \\qi."
        )
    if target.query:
        yield f"  - query: {yaml_text(target.query)}"
        yield "    name: console query"
    elif workspace.engine.finds_files and exists(target.relation):
        yield f"  - table: {yaml_text(str(Path(target.relation).absolute()))}"
    elif in_database and not exists(target.relation):
        yield f"  - table: {yaml_text(target.relation)}"
    else:
        yield f"  - file: {yaml_text(beside(target.relation, folder))}"
    if target.where:
        yield f"    where: {yaml_text(target.where)}"
    yield from _read(target.read)
    yield from _list("quasi_identifiers", roles.quasi_identifiers)
    yield from _list("sensitive", roles.sensitive)
    yield from _list("identifiers", roles.identifiers)
    if roles.entity:
        yield f"    entity: {yaml_text(roles.entity)}"
    yield from _judged(roles)
    yield from _list("requirements", [one.text for one in state.requirements])


def _judged(roles: Roles) -> Iterator[str]:
    """How the roles are read, where that was said."""
    sampling, share = roles.sampling, roles.sampling.sampling_fraction
    said = {
        "joint": "true" if roles.joint else None,
        "nulls": None if roles.nulls is NullPolicy.EQUAL else roles.nulls.value,
        "sampling_fraction": None if share is None else limit(share),
        "population_size": sampling.population_size,
        "weights": None if sampling.weights is None else yaml_text(sampling.weights),
        "known_rows": None if roles.known_rows is KnownRows.WORSE else roles.known_rows.value,
        "values": None if roles.values is None else roles.values.value,
    }
    yield from (f"    {key}: {value}" for key, value in said.items() if value is not None)


def _read(options: ReadOptions) -> Iterator[str]:
    given = [field.name for field in fields(options) if getattr(options, field.name) != field.default]
    if given:
        yield "    read:"
    for name in given:
        value = getattr(options, name)
        if isinstance(value, bool):
            written = "true" if value else "false"
        elif isinstance(value, tuple):
            written = "[" + ", ".join(yaml_text(item) for item in value) + "]"
        else:
            written = yaml_text(str(value))
        yield f"      {name}: {written}"


def _list(key: str, items: tuple[str, ...] | list[str]) -> Iterator[str]:
    if items:
        yield f"    {key}:"
        yield from (f"      - {yaml_text(item)}" for item in items)


_FILE_AND_WORD = re.compile(r"('[^']+'|\S+)(?:\s+(\S+))?")
REPORTS = (".html", ".htm", ".md", ".markdown", ".json", ".txt")


def report(session: Session, rest: str) -> None:
    """Write the last report into a file, in the layout that its ending names."""
    path = _path(rest, "\\report out.html")
    check_destination(path, REPORTS)
    session.workspace.keep(path)
    session.reported = session.reported or report_of(session.audit())
    output_for(None, path).emit(session.reported.document, session.reported.data)
    session.screen.note(f"wrote {str(path)!r}.")


def save(session: Session, rest: str) -> None:
    """Write the roles and requirements as a policy for `sqlaudit test`."""
    found = _FILE_AND_WORD.fullmatch(rest)
    if found is None:
        raise UsageError("Name one file, for example \\save policy.yml. Put unusual names in single quotes.")
    path = _path(found[1], "\\save policy.yml")
    check_destination(path, (".yml", ".yaml"))
    session.workspace.keep(path)
    if exists(path):
        raise UsageError(f"{str(path)!r} exists. Name another file, or edit it.")
    session.require_roles()
    text = policy_text(session.state, session.target(), session.workspace, path, found[2] or "")
    write_text(path, text)
    session.screen.note(f"wrote {str(path)!r}; `sqlaudit test --file {path}` checks it.")


def compile_sql(session: Session, rest: str) -> None:
    """The requirements as standalone SQL for another warehouse."""
    from sqlaudit.gates.standalone.checks import compile_statements as compile_checks
    from sqlaudit.gates.standalone.checks import script
    from sqlaudit.gates.standalone.names import DIALECTS, find_dialect

    words = rest.split(None, 1)
    if not words:
        raise UsageError(f"Name a dialect: \\compile snowflake. There are: {', '.join(DIALECTS)}.")
    dialect = find_dialect(words[0].casefold())
    roles, target = session.require_roles(), session.target()
    there = _in_dialect(session, target, words[1] if len(words) > 1 else "", dialect)
    relation = session.relation()

    def written(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_column(text, relation, session.workspace.dialect, dialect) for text in texts)

    translated = replace(
        roles,
        quasi_identifiers=written(roles.quasi_identifiers),
        sensitive=written(roles.sensitive),
        entity=next(iter(written((roles.entity,) if roles.entity else ())), None),
        sampling=Sampling(),
    )
    compiled = compile_checks(there, translated, session.state.requirements, dialect=dialect, inputs=session.inputs)
    session.screen.text(script(compiled, there, __version__))


def _in_dialect(session: Session, target: Target, table: str, dialect: str) -> Target:
    """The relation as the warehouse calls it, with its condition."""
    if target.query and not table:
        return Target(query=_translated(target.query, session.workspace.dialect, dialect), label="query")
    short = session.workspace.short_name(target.relation)
    where = _translated(target.where, session.workspace.dialect, dialect) if target.where else ""
    return Target(relation=table or short or target.relation, where=where)


def _column(text: str, relation: Relation, dialect: str, other: str) -> str:
    """A column by its name, or an expression in the parentheses that tell it from a name."""
    return text if find_column(text, relation) is not None else f"({_translated(text, dialect, other)})"


def _translated(text: str, dialect: str, other: str) -> str:
    """SQL that an engine has understood already, in another dialect."""
    if dialect == other:
        return text
    return sqlglot.parse_one(text, dialect=dialect).sql(dialect=other, comments=False)


def sql(session: Session, rest: str) -> None:
    """The statements that the last step ran; they hold no value of the data."""
    if rest:
        raise UsageError("\\sql takes no arguments.")
    if not session.steps:
        raise UsageError("No statement has run yet.")
    session.screen.text("\n".join(map(statement_text, session.steps)))


def into(session: Session, rest: str) -> None:
    """All results go into a file, or to the terminal again."""
    path = _path(rest, "\\o out.txt") if rest else None
    if path is not None:
        session.workspace.keep(path)
    session.screen.into(path)


def _path(text: str, example: str) -> Path:
    name = text.strip().strip("'")
    if not name:
        raise UsageError(f"Name a file, for example {example}.")
    return expanded(name)


COMMANDS = (
    Command("report", "FILE", "write the last report: .html, .md, .json or .txt", report, "files"),
    Command(
        "save", "FILE [ENV]", "write roles and requirements as a policy; ENV: variable with the URL", save, "files"
    ),
    Command(
        "compile", "DIALECT [TABLE]", "write the requirements as SQL for another warehouse", compile_sql, "dialects"
    ),
    Command("sql", "", "print the statements of the last step", sql),
    Command("o", "[FILE]", "write all results to a file; without a name, to the terminal again", into, "files"),
)
