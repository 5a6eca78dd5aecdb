"""How a release gets out: nothing that identifies is written unless somebody said so, it is audited while it is kept,
and only then written, as rows or as a SELECT. Lattices and all remedies write through here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import EngineError
from sqlaudit.base.files import Batches, write_rows, write_text
from sqlaudit.base.publication import Publication
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.models.check import Check
from sqlaudit.profiles.suspects import Written, refuse_suspected, suspect_statements


def before(engine: Engine, publication: Publication, written: Written) -> None:
    """What is asked before long work, whose release is to be written.

    Raises:
        UsageError: a column of it looks like a direct identifier, or it would be SQL over a frame, which no other
            session can read.
    """
    if publication.wanted:
        refuse_suspected(engine, written)
    if publication.is_sql:
        engine.lasting(written.relation)


def statements_before(engine: Engine, publication: Publication, written: Written) -> list[Statement]:
    """The statements that `before` runs."""
    return suspect_statements(engine, written) if publication.wanted else []


def bare(statement: Statement) -> str:
    """A statement without the comment that names its step."""
    return statement.sql.partition("\n")[2]


@contextmanager
def kept(engine: Engine, name: str, select: str) -> Iterator[Relation]:
    """A release as a relation called `name`, kept for a while where the engine can."""
    item = f"({select})"
    if not engine.can_materialize:
        yield Relation(item, tuple(engine.result_columns(Statement("release", select))), name)
        return
    relation = engine.materialize(name, keeping(engine, "release", item))
    try:
        yield relation
    finally:
        engine.drop(name)


def keeping(engine: Engine, step: str, item: str) -> Statement:
    """The statement that keeps a FROM item."""
    return render("audits/given.sql", engine.dialect, step=step, statement=Raw(item))


def failed(found: AuditResult) -> list[Check]:
    """What an audit of a release finds fault with."""
    return [check for check in found.checks if check.status not in (None, Status.PASS, Status.WARN)]


def write(
    publication: Publication, sql: str, names: Sequence[str], batches: Batches, expected: int, contradiction: str
) -> None:
    """Write an audited release into its file, if it has one.

    Args:
        sql: its SELECT, for a file that takes that. names: its columns. batches: its rows, in the order of what is
            published: rows in the order of the table could be matched one by one with another release of it
            (unsorted matching, Sweeney 2002). expected: how many rows those are.
        contradiction: the sentence for another number of rows.

    Raises:
        EngineError: another number of rows came than was counted. UsageError: the file cannot be written.
    """
    if publication.file is None:
        return
    if publication.only_sql:
        write_text(publication.file, sql + "\n")
    elif write_rows(publication.file, names, batches) != expected:
        raise EngineError(contradiction)


def contradiction(opening: str, what: str, again: str = "ask") -> str:
    """The sentence of the error that a contradiction between a release and its audit is."""
    return (
        f"{opening}: {what}. If the table changed meanwhile, {again} again; else this is a fault of sqlaudit, please "
        "report it."
    )
