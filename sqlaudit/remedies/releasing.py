"""From rewritten rows to a release: audited always, then written to a file or as SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.bucketed import laid_in_buckets, write_buckets
from sqlaudit.audits.emit import bare, contradiction, failed, kept, write
from sqlaudit.audits.spellings import AS_WRITTEN
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.publication import NOTHING, BucketPublication, Publication
from sqlaudit.base.relation import Relation, Row, Statement
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
    publication: Publication = NOTHING,
) -> Release:
    """Audit a release with what was required of it, and only then write it.

    Args:
        table: the table. made: the release. audited: the same for its audit: with the entity's column, if there is one
            (`rewrite(…, persons=True)`), else `made` again.
        requirements, inputs, population: of the audit, as `Auditor` takes them.
        publication: where it goes.

    Raises:
        EngineError: the audit contradicts the remedy, or the database refused or failed.
        UsageError: the file cannot be written, or there is no SELECT for such a target.
    """
    engine = table.engine
    sql = made.standalone(engine.lasting(table.relation)) if publication.is_sql else ""
    with _given(table, audited) as items, kept(engine, RELEASED, bare(audited.select(*items, "", False))) as relation:
        spec = _audit_of(table, audited, requirements, inputs or {})
        checked = _checked(table, audited, relation, spec, population)
        another = disagree("the file has another number of rows")
        buckets = publication.buckets if isinstance(publication, BucketPublication) else None
        if isinstance(publication, BucketPublication) and buckets is not None:
            laid = laid_in_buckets(relation.sql, made.columns, made.keys, audited.originals, table.roles)
            write_buckets(engine, publication, laid, spec, (checked.rows, checked.classes, False))
        else:
            write(publication, sql, made.columns, _rows(table, made, relation), made.rows, another)
    file, found = str(publication.file or ""), (made.columns, made.keys, made.unnamed, made.groups)
    return Release(*found, made.rows, made.left_out, checked, file, sql, str(buckets or ""))


def disagree(what: str) -> str:
    """The sentence of the error that a contradiction is."""
    return contradiction("The audit of the release contradicts the remedy, and nothing was published", what)


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


def _audit_of(
    table: RemedyTable, made: Rewritten, requirements: Sequence[Requirement], inputs: Mapping[str, Any]
) -> AuditSpec:
    """The audit of the release."""
    asked = table.given
    sampling = asked.sampling if asked.entity else asked.sampling.of_release(made.rows + made.left_out)
    roles = Roles(made.keys, asked.sensitive, (), asked.entity, asked.joint, asked.nulls, asked.known_rows, sampling)
    return AuditSpec(Target(relation=table.relation.label), roles, tuple(requirements), inputs)


def _checked(
    table: RemedyTable, made: Rewritten, relation: Relation, spec: AuditSpec, population: Relation | None
) -> Checked:
    """What an audit says of the release.

    Raises:
        EngineError: it has other rows than were decided, or fails a requirement.
        UsageError: it does because values are spelled in several ways, which no remedy changes.
    """
    found = Auditor(table.engine, failing_classes=0, relation=relation, population=population).audit(spec)
    if found.rows != made.rows:
        raise EngineError(disagree(f"the release has {found.rows:,} rows, not {made.rows:,}"))
    failing = failed(found)
    if failing and found.rows and AS_WRITTEN in failing[0].details:
        raise UsageError(f"Nothing was published, for {failing[0].text!r} does not hold. {failing[0].note}")
    if failing and found.rows:  # nothing can be said of no row
        raise EngineError(disagree(f"{failing[0].text!r} does not hold"))
    return Checked(found.status.value, found.rows, found.classes.count, made.left_out)


def _rows(table: RemedyTable, made: Rewritten, relation: Relation) -> Iterator[list[Row]]:
    """The release, in the order of what is published."""
    statement = render(
        "remedies/remedy_rows.sql",
        table.engine.dialect,
        step="release",
        source=Raw(relation.sql),
        names=[quote(name, "duckdb") for name in made.columns],
    )
    yield from table.engine.stream(statement)


def plan(table: RemedyTable) -> list[Statement]:
    """The statements of a remedy that are known before anything has run."""
    return [table.patterns_statement()]
