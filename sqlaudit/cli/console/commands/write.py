"""`\\report`, `\\save`, `\\compile`, `\\sql`, `\\o`: commands that write files and SQL."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import sqlglot

from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_destination, exists, expanded, write_text
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import KnownRows, NullPolicy, Roles, Sampling, Target
from sqlaudit.base.version import __version__
from sqlaudit.cli.console.screen import report_of
from sqlaudit.cli.console.session import ConsoleCommand, Session, State
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.cli.init import connection_of, relative_to_folder
from sqlaudit.cli.output import output_for
from sqlaudit.cli.session import statement_text
from sqlaudit.gates.nodes import yaml_read, yaml_text
from sqlaudit.reports.document import limit

# The roles and requirements of a session as the text of a policy.


def policy_text(state: State, target: Target, workspace: Workspace, path: Path, variable: str = "") -> str:
    """Return a policy with one table.

    Args:
        state: roles and requirements.
        target: the relation.
        workspace: has the relation.
        path: the file of the policy.
        variable: the environment variable with the database's URL; empty = the URL or file itself is written.

    Raises:
        UsageError: nothing is required, or the URL has a password, which must not be in a policy.
    """
    if not state.requirements:
        raise UsageError("No requirement is set. Set one with \\require, for example \\require k=5.")
    folder = path.absolute().parent
    return (
        "\n".join([*_policy_head(workspace.db, variable, folder), *_policy_table(state, target, workspace, folder)])
        + "\n"
    )


def _policy_head(db: str | None, variable: str, folder: Path) -> Iterator[str]:
    """Return the lines of a policy above its tables: version and connection."""
    yield "# Requirements for the publication of this table. `sqlaudit test` checks them."
    yield "version: 1"
    yield ""
    if db is None:
        return
    instead = ", and name it: \\save policy.yml CLINIC_URL."
    kind, value = ("env", variable) if variable else connection_of(db, instead)
    yield "connections:"
    yield f"  main: {{{kind}: {yaml_text(relative_to_folder(value, folder) if kind == 'duckdb' else value)}}}"
    yield ""


def _policy_table(state: State, target: Target, workspace: Workspace, folder: Path) -> Iterator[str]:
    """Return the lines of a policy's table.

    Raises:
        UsageError: the relation is a query over files, which a policy cannot have.
    """
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
        yield f"  - file: {yaml_text(relative_to_folder(target.relation, folder))}"
    if target.where:
        yield f"    where: {yaml_text(target.where)}"
    yield from yaml_read(target.read_as(workspace.engine.reading_options(target)), "    ")
    yield from _policy_list("quasi_identifiers", roles.quasi_identifiers)
    yield from _policy_list("sensitive", roles.sensitive)
    yield from _policy_list("identifiers", roles.identifiers)
    if roles.entity:
        yield f"    entity: {yaml_text(roles.entity)}"
    yield from _policy_settings(roles)
    yield from _policy_list("requirements", [requirement.text for requirement in state.requirements])


def _policy_settings(roles: Roles) -> Iterator[str]:
    """Return the lines for settings of roles that differ from the default."""
    sampling, share = roles.sampling, roles.sampling.sampling_fraction
    settings = {
        "joint": "true" if roles.joint else None,
        "nulls": None if roles.nulls is NullPolicy.EQUAL else roles.nulls.value,
        "sampling_fraction": None if share is None else limit(share),
        "population_size": sampling.population_size,
        "weights": None if sampling.weights is None else yaml_text(sampling.weights),
        "known_rows": None if roles.known_rows is KnownRows.WORSE else roles.known_rows.value,
        "values": None if roles.values is None else roles.values.value,
    }
    yield from (f"    {key}: {value}" for key, value in settings.items() if value is not None)


def _policy_list(key: str, items: tuple[str, ...] | list[str]) -> Iterator[str]:
    if items:
        yield f"    {key}:"
        yield from (f"      - {yaml_text(text)}" for text in items)


_FILE_AND_WORD = re.compile(r"('[^']+'|\S+)(?:\s+(\S+))?")
REPORTS = (".html", ".htm", ".md", ".markdown", ".json", ".txt")


def report(session: Session, rest: str) -> None:
    """Write the last report to a file, in the format of its ending."""
    path = _file_path(rest, "\\report out.html")
    check_destination(path, REPORTS)
    session.workspace.check_not_read(path)
    session.reported = session.reported or report_of(session.audit())
    output_for(None, path).emit(session.reported.document, session.reported.data)
    session.screen.note(f"wrote {str(path)!r}.")


def save(session: Session, rest: str) -> None:
    """Write the roles and requirements as a policy for `sqlaudit test`."""
    match = _FILE_AND_WORD.fullmatch(rest)
    if match is None:
        raise UsageError("Name one file, for example \\save policy.yml. Put unusual names in single quotes.")
    path = _file_path(match[1], "\\save policy.yml")
    check_destination(path, (".yml", ".yaml"))
    session.workspace.check_not_read(path)
    if exists(path):
        raise UsageError(f"{str(path)!r} exists. Name another file, or edit it.")
    session.require_roles()
    text = policy_text(session.state, session.target(), session.workspace, path, match[2] or "")
    write_text(path, text)
    session.screen.note(f"wrote {str(path)!r}; `sqlaudit test --file {shlex.quote(str(path))}` checks it.")


def compile_sql(session: Session, rest: str) -> None:
    """Print the requirements as standalone SQL for another warehouse."""
    from sqlaudit.gates.standalone.checks import compile_statements as compile_checks
    from sqlaudit.gates.standalone.checks import script
    from sqlaudit.gates.standalone.names import DIALECTS, find_dialect

    words = rest.split(None, 1)
    if not words:
        raise UsageError(f"Name a dialect: \\compile snowflake. Available: {', '.join(DIALECTS)}.")
    dialect = find_dialect(words[0].casefold())
    roles, target = session.require_roles(), session.target()
    warehouse_target = _in_dialect(session, target, words[1] if len(words) > 1 else "", dialect)
    relation = session.relation()

    def translate_columns(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_translate_column(text, relation, session.workspace.dialect, dialect) for text in texts)

    translated = replace(
        roles,
        quasi_identifiers=translate_columns(roles.quasi_identifiers),
        sensitive=translate_columns(roles.sensitive),
        entity=next(iter(translate_columns((roles.entity,) if roles.entity else ())), None),
        sampling=Sampling(),
    )
    compiled = compile_checks(
        warehouse_target, translated, session.state.requirements, dialect=dialect, inputs=session.inputs
    )
    session.screen.text(script(compiled, warehouse_target, __version__))


def _in_dialect(session: Session, target: Target, table: str, dialect: str) -> Target:
    """Return the relation by its name in the warehouse, with its condition translated."""
    if target.query and not table:
        return Target(query=_translate(target.query, session.workspace.dialect, dialect), label="query")
    short = session.workspace.short_name(target.relation)
    where = _translate(target.where, session.workspace.dialect, dialect) if target.where else ""
    return Target(relation=table or short or target.relation, where=where)


def _translate_column(text: str, relation: Relation, dialect: str, other: str) -> str:
    """Return a column's name, or a translated expression in parentheses, which distinguish it from a name."""
    return text if find_column(text, relation) is not None else f"({_translate(text, dialect, other)})"


def _translate(text: str, dialect: str, other: str) -> str:
    """Return SQL that an engine has already parsed in another dialect."""
    if dialect == other:
        return text
    return sqlglot.parse_one(text, dialect=dialect).sql(dialect=other, comments=False)


def sql(session: Session, rest: str) -> None:
    """Print the statements of the last step. They hold no value of the data."""
    if rest:
        raise UsageError("\\sql takes no arguments.")
    if not session.steps:
        raise UsageError("No statement has run yet.")
    session.screen.text("\n".join(map(statement_text, session.steps)))


def redirect(session: Session, rest: str) -> None:
    """Write all results to a file, or to the terminal again."""
    path = _file_path(rest, "\\o out.txt") if rest else None
    if path is not None:
        session.workspace.check_not_read(path)
    session.screen.into(path)


def _file_path(text: str, example: str) -> Path:
    name = text.strip().strip("'")
    if not name:
        raise UsageError(f"Name a file, for example {example}.")
    return expanded(name)


COMMANDS = (
    ConsoleCommand("report", "FILE", "write the last report: .html, .md, .json or .txt", report, "files"),
    ConsoleCommand(
        "save", "FILE [ENV]", "write roles and requirements as a policy; ENV: variable with the URL", save, "files"
    ),
    ConsoleCommand(
        "compile", "DIALECT [TABLE]", "write the requirements as SQL for another warehouse", compile_sql, "dialects"
    ),
    ConsoleCommand("sql", "", "print the statements of the last step", sql),
    ConsoleCommand(
        "o", "[FILE]", "write all results to a file; without a name, to the terminal again", redirect, "files"
    ),
)
