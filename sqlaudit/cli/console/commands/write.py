"""`\\report`, `\\save`, `\\compile`, `\\sql`, `\\o`: what a session leaves behind."""

from __future__ import annotations

import re
from pathlib import Path

import sqlglot

from sqlaudit.audits.report import audit_document
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_destination, write_text
from sqlaudit.base.paths import exists, expanded
from sqlaudit.base.spec import Roles, Target
from sqlaudit.base.version import __version__
from sqlaudit.cli.console.policy_text import policy_text
from sqlaudit.cli.console.screen import Reported
from sqlaudit.cli.console.session import Command, Session
from sqlaudit.reports.escape import visible

_FILE_AND_WORD = re.compile(r"('[^']+'|\S+)(?:\s+(\S+))?")
REPORTS = (".html", ".htm", ".md", ".markdown", ".json", ".txt")


def report(session: Session, rest: str) -> None:
    """Write the last report into a file, in the layout that its ending names."""
    path = _path(rest, "\\report out.html")
    check_destination(path, REPORTS)
    session.workspace.keep(path)
    if session.reported is None:
        result = session.audit()
        session.reported = Reported(lambda: audit_document(result), result.to_dict)
    session.screen.terminal.save(path, session.reported)
    session.screen.note(f"wrote {str(path)!r}.")


def save(session: Session, rest: str) -> None:
    """Write the roles and requirements as a policy for `sqlaudit test`."""
    found = _FILE_AND_WORD.fullmatch(rest)
    if found is None:
        raise UsageError("Name a file, for instance \\save policy.yml; odd names stand in single quotes.")
    path = _path(found[1], "\\save policy.yml")
    check_destination(path, (".yml", ".yaml"))
    session.workspace.keep(path)
    if exists(path):
        raise UsageError(f"{str(path)!r} is there already; name another file, or add to it by hand.")
    session.require_roles()
    text = policy_text(session.state, session.target(), session.workspace, path, found[2] or "")
    write_text(path, text)
    session.screen.note(f"wrote {str(path)!r}; `sqlaudit test --file {path}` checks it.")


def compile_sql(session: Session, rest: str) -> None:
    """The requirements as standalone SQL for another warehouse."""
    from sqlaudit.gates.standalone.checks import compile_checks, script
    from sqlaudit.gates.standalone.names import DIALECTS, find_dialect

    words = rest.split(None, 1)
    if not words:
        raise UsageError(f"Name a dialect: \\compile snowflake. There are: {', '.join(DIALECTS)}.")
    dialect = find_dialect(words[0].casefold())
    roles, target = session.require_roles(), session.target()
    there = _in_dialect(session, target, words[1] if len(words) > 1 else "", dialect)
    translated = Roles(
        tuple(_translated(name, session.workspace.dialect, dialect) for name in roles.quasi_identifiers),
        roles.sensitive,
        roles.identifiers,
        roles.entity,
        roles.joint,
        roles.nulls,
        roles.known_rows,
    )
    compiled = compile_checks(there, translated, session.state.requirements, dialect=dialect, inputs=session.inputs)
    session.screen.text(script(compiled, there, __version__))


def _in_dialect(session: Session, target: Target, table: str, dialect: str) -> Target:
    """The relation as the warehouse calls it, with its condition."""
    if target.query and not table:
        return Target(query=_translated(target.query, session.workspace.dialect, dialect), label="query")
    short = next((name for name, path in session.workspace.files.items() if path == target.relation), None)
    where = _translated(target.where, session.workspace.dialect, dialect) if target.where else ""
    return Target(relation=table or short or target.relation, where=where)


def _translated(text: str, dialect: str, other: str) -> str:
    """SQL that an engine has understood already, in another dialect; names alone stay as they are."""
    if text.replace(" ", "_").isidentifier() or dialect == other:
        return text
    return sqlglot.parse_one(text, dialect=dialect).sql(dialect=other, comments=False)


def sql(session: Session, rest: str) -> None:
    """The statements that the last step ran; they hold no value of the data."""
    if rest:
        raise UsageError("\\sql takes nothing more.")
    if not session.steps:
        raise UsageError("No step has run a statement yet.")
    parts = []
    for done in session.steps:
        shown = "\n".join(visible(line) for line in done.sql.rstrip().splitlines())
        seconds = "" if done.seconds is None else f", {done.seconds:.3f} s"
        parts.append(f"-- {done.name}{seconds}\n{shown};\n")
    session.screen.text("\n".join(parts))


def into(session: Session, rest: str) -> None:
    """All results go into a file, or to the terminal again."""
    path = _path(rest, "\\o out.txt") if rest else None
    if path is not None:
        session.workspace.keep(path)
    session.screen.into(path)


def _path(text: str, example: str) -> Path:
    name = text.strip().strip("'")
    if not name:
        raise UsageError(f"Name a file, for instance {example}.")
    return expanded(name)


COMMANDS = (
    Command("report", "FILE", "write the last report: .html, .md, .json or .txt", report, "files"),
    Command("save", "FILE [ENV]", "roles and requirements as a policy; ENV: holds the URL", save, "files"),
    Command("compile", "DIALECT [TABLE]", "the requirements as SQL for another warehouse", compile_sql, "dialects"),
    Command("sql", "", "the statements that the last step ran", sql),
    Command("o", "[FILE]", "all results into a file; without a name to the terminal again", into, "files"),
)
