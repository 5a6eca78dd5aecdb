"""`\\audit`, `\\classes`, `\\disclosure`, `\\columns`, `\\lattice`, `\\compare`, `\\attack`: audits of a relation."""

from __future__ import annotations

import re
from dataclasses import replace

import sqlaudit
from sqlaudit.audits.report import FAILING_GROUPS, GROUP_SIZES
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import KnownRows, NullPolicy, Sampling
from sqlaudit.cli.console.screen import ScreenReport
from sqlaudit.cli.console.session import ConsoleCommand, Session
from sqlaudit.cli.console.statements import parse_arguments
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.models.registry import model_of
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.compare.result import CompareResult
from sqlaudit.reports.document import Document, plural
from sqlaudit.reports.notebook import document_of

_RANGE = re.compile(r"(?:(\d{1,6})\s*\.\.\s*)?(\d{1,6})", re.ASCII)
_BELOW = re.compile(r"below\s+(\d{1,9})", re.IGNORECASE | re.ASCII)
_LATTICE = re.compile(r"(?P<file>.*?)(?:\s*\bsuppress\s+(?P<share>\S+))?", re.IGNORECASE)
_RELEASE = re.compile(
    r"(?P<release>'[^']*'|\S+)(?:\s+hierarchies\s+(?P<file>'[^']*'|\S+))?(?:\s+key\s+(?P<key>.+))?", re.IGNORECASE
)
_CLASS_SECTIONS = (FAILING_GROUPS, "Risk from someone who knows the quasi-identifiers", GROUP_SIZES)
MOST_CLASSES = 100
K = 5


def run_audit(session: Session, rest: str) -> AuditResult:
    """Audit with the current roles and requirements."""
    if rest:
        raise UsageError("\\audit takes no arguments. Set roles and requirements with \\qi, \\sensitive and \\require.")
    return session.show(session.audit(afresh=True))


def show_classes(session: Session, rest: str) -> None:
    """Show the sizes of the classes, with a limit also the classes below it."""
    match = _BELOW.fullmatch(rest)
    if rest and (match is None or int(match[1]) < 1):
        raise UsageError("\\classes takes no argument, or a limit: \\classes below 5.")
    roles = session.require_roles()
    below = int(match[1]) if match else None
    result = sqlaudit.audit(
        session.target(),
        qi=roles.quasi_identifiers,
        entity=roles.entity,
        nulls=roles.nulls,
        known_rows=roles.known_rows,
        values=roles.values,
        db=session.engine,
        require=[f"k={below or 1}"],
        failing_classes=MOST_CLASSES,
        worst_classes=0,
        show_values=session.show_values,
    )
    session.screen.report(ScreenReport(lambda: _classes_document(result, below), result.to_dict))


def _classes_document(result: AuditResult, below: int | None) -> Document:
    """Return the sections of an audit that are about class sizes, under a headline of their own."""
    audit = document_of(result)
    all_groups = plural(result.classes.count, "group")
    small, rows = result.classes.below(below or 1)
    headline = f"{result.target}: {plural(result.rows, 'row')} in {all_groups}"
    if below is not None:
        headline = (
            f"{result.target}: {small:,} of {all_groups} have fewer than {below} rows ({plural(rows, 'row')} in total)"
        )
    return Document(headline, (), tuple(part for part in audit.sections if part.title in _CLASS_SECTIONS))


def measure_disclosure(session: Session, rest: str) -> None:
    """Show the most that an attacker with some pieces of knowledge can learn."""
    from sqlaudit.audits.disclosure.request import DisclosureRequest, Pieces
    from sqlaudit.audits.disclosure.run import find_disclosure

    match = _RANGE.fullmatch(rest or "0..8")
    if match is None:
        raise UsageError("\\disclosure takes a number of pieces of knowledge: \\disclosure 0..8, or 8.")
    session.require_roles()
    pieces = Pieces(int(match[1] or 0), int(match[2]))
    session.pieces = pieces.last
    request = DisclosureRequest(session.target(), session.state.roles, pieces, show_values=session.show_values)
    session.show(find_disclosure(session.engine, request))


def find_column_sets(session: Session, rest: str) -> ColumnSets:
    """Show the sets of columns that identify people."""
    if rest and not (rest.isascii() and rest.isdecimal() and int(rest) > 0):
        raise UsageError("\\columns takes the largest number of columns that an attacker knows: \\columns 3.")
    roles = session.state.roles
    relation = session.relation()
    excluded_names = {name.casefold() for name in (*roles.sensitive, *roles.identifiers)}
    excluded = [column.name for column in relation.columns if column.name.casefold() in excluded_names]
    return session.show(
        sqlaudit.columns(
            session.target(),
            exclude=excluded,
            entity=roles.entity,
            k=_required_k(session),
            nulls=roles.nulls,
            values=roles.values if roles.entity else None,
            max_size=int(rest) if rest else 3,
            db=session.engine,
        )
    )


def _required_k(session: Session) -> int:
    """Return the required k, or `K`."""
    on_rows = (limit for limit in session.state.requirements if model_of(limit.model).class_minimum == "rows")
    return next((k for limit in on_rows if isinstance(k := limit.parameters.get("k"), int)), K)


def search_lattice(session: Session, rest: str) -> LatticeResult:
    """Search for the least generalization that is safe."""
    match = _LATTICE.fullmatch(rest)
    file, share = (match["file"], match["share"]) if match else (rest, None)
    roles = session.require_roles()
    if not session.state.requirements:
        raise UsageError("No requirement is set. Set one with \\require, for example \\require k=5.")
    return session.show(
        sqlaudit.lattice(
            session.target(),
            roles=roles,
            require=session.state.requirements,
            hierarchies=_file_name(file),
            suppress=share or 0,
            inputs=session.inputs,
            db=session.engine,
        )
    )


def compare_release(session: Session, rest: str) -> CompareResult:
    """Compare a release with the relation: is it derived from it, what was lost?"""
    from sqlaudit.release.compare.request import CompareRequest
    from sqlaudit.release.compare.run import compare_tables

    match = _RELEASE.fullmatch(rest)
    if match is None:
        raise UsageError("No release is given. Name it: \\compare release.csv [hierarchies FILE] [key COLUMNS].")
    roles = session.require_roles()
    if session.state.requirements and (roles.entity or roles.joint or roles.nulls is not NullPolicy.EQUAL):
        raise UsageError(
            "\\compare with requirements does not support an entity, joint or nulls. Remove the requirements with "
            "\\require none, or audit the release: \\use it, then \\audit."
        )
    request = CompareRequest(
        session.target(),
        session.workspace.target(match["release"]),
        qi=roles.quasi_identifiers,
        sensitive=roles.sensitive,
        values=roles.values,
        hierarchies=_file_name(match["file"] or ""),
        key=parse_arguments(match["key"] or "", session.workspace.dialect, "\\compare"),
        show_values=session.show_values,
        requirements=session.state.requirements,
        inputs=session.inputs,
    )
    return session.show(compare_tables(session.engine, request))


def try_attacks(session: Session, rest: str) -> AttackResult:
    """Try attacks on the relation, as a release."""
    from sqlaudit.release.attacks.request import AttackRequest
    from sqlaudit.release.attacks.run import attack_release

    roles = replace(session.require_roles(), identifiers=(), known_rows=KnownRows.WORSE, sampling=Sampling())
    request = AttackRequest(
        session.target(),
        roles,
        identified=session.workspace.target(rest) if rest else None,
        k=_required_k(session),
        show_values=session.show_values,
    )
    return session.show(attack_release(session.engine, request))


def _file_name(text: str) -> str | None:
    return text.strip().strip("'") or None


COMMANDS = (
    ConsoleCommand("audit", "", "measure how easily people can be re-identified", run_audit),
    ConsoleCommand(
        "classes", "[below N]", "show the sizes of the classes, and those below a size", show_classes, "below"
    ),
    ConsoleCommand(
        "disclosure", "[0..K]", "measure what K pieces of knowledge disclose in the worst case", measure_disclosure
    ),
    ConsoleCommand("columns", "[N]", "find sets of at most N columns that identify people", find_column_sets),
    ConsoleCommand(
        "lattice", "[FILE] [suppress SHARE]", "find the least generalization that is safe", search_lattice, "files"
    ),
    ConsoleCommand(
        "compare",
        "RELEASE [hierarchies FILE] [key COLUMNS]",
        "compare a release with the current relation",
        compare_release,
        "tables",
    ),
    ConsoleCommand(
        "attack", "[TABLE]", "try attacks on the current relation; TABLE: one with names", try_attacks, "tables"
    ),
)
