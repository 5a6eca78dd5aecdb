"""The engine on which a search over a lattice runs: the engine itself, or a private DuckDB beside a database that only
reads.

A table is counted once, in its database. All later statements read that histogram, and an engine that can keep
relations is its own workbench. PostgreSQL keeps none, so its histogram (codes and counts, never a cell) streams into a
DuckDB in memory, and one text of SQL serves all engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlaudit.base.relation import Relation, Statement
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine

BATCH = 20_000
"""Rows that travel at a time from a database to the workbench."""


@contextmanager
def workbench_of(engine: Engine) -> Iterator[Engine]:
    """Return the engine itself if it can keep relations, else a DuckDB in memory with what is left of its limits.

    Example:
        >>> with connect() as engine, workbench_of(engine) as workbench:
        ...     workbench is engine
        True
    """
    if engine.own_workbench:
        yield engine
        return
    with connect(None, engine.limits_left()) as workbench:
        workbench.tracer, workbench.progress = engine.tracer, engine.progress
        yield workbench


def keep(
    engine: Engine, workbench: Engine, name: str, statement: Statement, columns: Sequence[tuple[str, str]]
) -> Relation:
    """Keep the result of a statement over the engine as a relation of the workbench, batch by batch.

    Args:
        engine: the engine that runs the statement.
        workbench: the engine that keeps its rows; if it is the same engine, no row leaves it.
        name: the relation's name there.
        statement: counts and codes, never cells.
        columns: its (name, DuckDB type) in order.
    """
    if workbench is engine:
        return engine.materialize(name, statement)
    return workbench.keep_rows(name, columns, engine.stream(statement, BATCH))
