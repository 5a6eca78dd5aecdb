"""From rewritten rows to a release: audited always, then written to a file or as SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import EngineError
from sqlaudit.base.files import write_rows, write_text
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import AuditSpec, Requirement, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.lattices.result import Checked
from sqlaudit.remedies.patterns import RemedyTable
from sqlaudit.remedies.result import Release
from sqlaudit.remedies.rewriting import Piece, Rewritten

RELEASED = "sqlaudit_remedied"
PIECES = "sqlaudit_pieces"
EXPECTED = "sqlaudit_expected"
BATCH = 50_000
"""Pieces that travel to the database at a time."""


def release(
    table: RemedyTable,
    made: Rewritten,
    audited: Rewritten,
    requirements: Sequence[Requirement],
    *,
    inputs: Mapping[str, Any] | None = None,
    population: Relation | None = None,
    file: Path | None = None,
    with_sql: bool = False,
) -> Release:
    """Audit a release with what was required of it, and only then write it.

    Args:
        table: the table. made: the release. audited: the same for its audit: with the entity's column, if there is one
            (`rewrite(…, persons=True)`), else `made` again.
        requirements, inputs, population: of the audit, as `Auditor` takes them.
        file: a .parquet or .csv file for its rows, or a .sql file for its SELECT. with_sql: make that SELECT anyway.

    Raises:
        EngineError: the audit contradicts the remedy, or the database refused or failed.
        UsageError: the file cannot be written, or there is no SELECT for such a target.
    """
    is_sql = with_sql or (file is not None and file.suffix.lower() == ".sql")
    sql = made.standalone(table.engine.lasting(table.relation)) if is_sql else ""
    with _given(table, audited) as items, _kept(table, audited, items) as relation:
        checked = _checked(table, audited, relation, requirements, inputs or {}, population)
        if file is not None and file.suffix.lower() == ".sql":
            write_text(file, sql + "\n")
        elif file is not None and _write(table, made, relation, file) != made.rows:
            raise EngineError(disagree("the file has another number of rows"))
    return Release(
        made.columns, made.keys, made.unnamed, made.groups, made.rows, made.left_out, checked, str(file or ""), sql
    )


def disagree(what: str) -> str:
    """The sentence of the error that a contradiction is."""
    return (
        f"The audit of the release contradicts the remedy, and nothing was published: {what}. If the table changed "
        "meanwhile, ask again; else this is a fault of sqlaudit, please report it."
    )


@contextmanager
def _given(table: RemedyTable, made: Rewritten) -> Iterator[tuple[str, str]]:
    """FROM items of the pieces and of the expected patterns: kept in the session where the engine can, else empty."""
    engine = table.engine
    if not engine.can_materialize:
        yield "", ""
        return
    try:
        yield _keep(table, PIECES, made.pieces), _keep(table, EXPECTED, made.expected)
    finally:
        engine.drop(PIECES)
        engine.drop(EXPECTED)


def _keep(table: RemedyTable, name: str, rows: Sequence[Piece]) -> str:
    columns = [(f"c{place}", "BIGINT") for place, _ in enumerate(rows[0])] if rows else [("c0", "BIGINT")]
    batches = (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
    return table.engine.keep_rows(name, columns, batches).sql


@contextmanager
def _kept(table: RemedyTable, made: Rewritten, items: tuple[str, str]) -> Iterator[Relation]:
    """The release as a relation, kept for a while where the engine can."""
    engine, statement = table.engine, made.select(*items, "", False)
    item = "(" + statement.sql.partition("\n")[2] + ")"
    if not engine.can_materialize:
        yield Relation(item, tuple(engine.result_columns(statement)), RELEASED)
        return
    kept = engine.materialize(
        RELEASED, render("lattices/given.sql", engine.dialect, step="release", statement=Raw(item))
    )
    try:
        yield kept
    finally:
        engine.drop(RELEASED)


def _checked(
    table: RemedyTable,
    made: Rewritten,
    relation: Relation,
    requirements: Sequence[Requirement],
    inputs: Mapping[str, Any],
    population: Relation | None,
) -> Checked:
    """What an audit says of the release.

    Raises:
        EngineError: it has other rows than were decided, or fails a requirement.
    """
    asked = table.given
    roles = Roles(made.keys, asked.sensitive, (), asked.entity, asked.joint, asked.nulls)
    auditor = Auditor(table.engine, failing_classes=0, relation=relation, population=population)
    found = auditor.audit(AuditSpec(Target(relation=table.relation.label), roles, tuple(requirements), inputs))
    if found.rows != made.rows:
        raise EngineError(disagree(f"the release has {found.rows:,} rows, not {made.rows:,}"))
    failing = _failing(found)
    if failing and found.rows:  # nothing can be said of no row
        raise EngineError(disagree(f"{failing[0]!r} does not hold"))
    return Checked(found.status.value, found.rows, found.classes.count, made.left_out)


def _failing(found: AuditResult) -> list[str]:
    return [check.text for check in found.checks if check.status not in (None, Status.PASS, Status.WARN)]


def _write(table: RemedyTable, made: Rewritten, relation: Relation, file: Path) -> int:
    """Stream the release into a file, in the order of what is published: the table's own order would tell whose row is
    whose (unsorted matching, Sweeney 2002)."""
    statement = render(
        "remedies/remedy_rows.sql",
        table.engine.dialect,
        step="release",
        source=Raw(relation.sql),
        names=[quote(name, "duckdb") for name in made.columns],
    )
    return write_rows(file, made.columns, table.engine.stream(statement))


def plan(table: RemedyTable) -> list[Statement]:
    """The statements of a remedy that are known before anything has run."""
    return [table.patterns_statement()]
