"""The contract every engine fulfils. Engines run SQL; they never know the name of a privacy model."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlaudit.base.connection_texts import literals_hidden
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import ColumnInfo, Relation, Row, Statement
from sqlaudit.base.spec import Limits, Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlaudit.base.whereabouts import Whereabouts

Database: TypeAlias = "str | Whereabouts | Engine | SparkSession | Any | None"
"""What `db=` takes: what `--db` does, an engine that is open (it is left open), a session of Spark (likewise), or what
`sqlaudit.engines.given` knows: connections of DuckDB and psycopg, engines, connections and URLs of SQLAlchemy."""


@dataclass(frozen=True)
class Executed:
    """A statement that was run, and how long it took in seconds (None when it was only planned)."""

    name: str
    sql: str
    seconds: float | None


Tracer = Callable[[Executed], None]
ProgressHook = Callable[[str, float | None], None]
"""Called with the step's name and the share done between 0 and 1, None when unknown."""


class Engine(ABC):
    """A connection to one database, read-only.

    Subclasses implement the abstract methods; errors leave them only as `SqlauditError`s whose messages hold no
    cell value and whose `__cause__` is suppressed (`raise … from None`).
    """

    name: str
    dialect: str
    """The sqlglot dialect that statements are rendered for."""
    can_materialize: bool = False
    """Whether `materialize` works here; if not, every step runs as one standalone SELECT."""
    own_workbench: bool = False
    """Whether thousands of small statements cost next to nothing here, so that searches run where the rows are kept; if
    not, codes and counts of them go to a DuckDB in memory."""

    answers_together: bool = False
    """Whether `run_together` saves work: nothing can be kept, but one statement may have several results."""
    numbers_rows: bool = False
    """Whether the rows of what `materialize` keeps have numbers of their own, `rowid`."""
    joins_nulls: bool = False
    """Whether an equality in which NULL equals NULL can be the key of a join, and not only its filter."""
    reads_files: bool = False
    """Whether a target may be a file."""
    finds_files: bool = False
    """Whether it finds files by itself; if not, they are named when it is opened, and all others are closed."""
    own_schema: str = ""
    """The schema of tables that are named without one."""
    plain_name: str = "[a-z_][a-z0-9_]*"
    """A pattern of names that need no quotes."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.tracer: Tracer | None = None
        self.progress: ProgressHook | None = None
        self.executed: list[Executed] = []
        self.started = time.monotonic()

    @abstractmethod
    def open(self, target: Target) -> Relation:
        """Resolve a target to a relation; `where`, read options and the guard for queries are applied here.

        Raises:
            UsageError: no such table or file, more than one statement, or a query that is not a SELECT.
            InputError: a file that cannot be read.
            PermissionDenied: the table exists but may not be read completely (privileges, row-level security).
        """

    @abstractmethod
    def run(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Row]:
        """Execute a statement and return all its rows (aggregates only).

        `parameters` stand in the statement as $1, $2, …: a value that a user names never becomes part of the SQL.
        """

    def run_together(self, statements: Sequence[Statement], shared: Sequence[str]) -> list[list[Row]]:
        """The rows of each of several statements; FROM items that several of them have may be computed once for all.

        Args:
            statements: what is asked. shared: FROM items, parenthesized SELECTs, as they stand in the statements.
        """
        return [self.run(statement) for statement in statements]

    @abstractmethod
    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """Execute a statement and yield its rows in batches, for exports."""

    @abstractmethod
    def explain(self, statement: Statement) -> str:
        """The engine's plan for a statement."""

    @abstractmethod
    def version(self) -> str:
        """The engine's version, for instance `DuckDB 2.0.0`."""

    @abstractmethod
    def access(self) -> str:
        """What it may do with what it audits, for reports: as whom, and that it only reads."""

    @abstractmethod
    def cancel(self) -> None:
        """Stop the running statement; safe to call from another thread or a signal handler."""

    @abstractmethod
    def close(self) -> None:
        """Drop what was created and release the connection; safe to call twice."""

    def materialize(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement as a temporary relation called `name` (replacing an older one)."""
        raise NotImplementedError(f"{self.name} cannot keep temporary relations")

    def keep_rows(self, name: str, columns: Sequence[tuple[str, str]], batches: Iterable[Sequence[Row]]) -> Relation:
        """Keep rows that come in batches (as `stream` gives them) as a temporary relation called `name`.

        `columns` are (name, type in this engine's dialect). One batch at a time is held in Python.
        """
        raise NotImplementedError(f"{self.name} cannot keep temporary relations")

    def extend(self, name: str, statement: Statement) -> None:
        """Add the result of a statement, of the same columns, to what `materialize` keeps as `name`."""
        raise NotImplementedError(f"{self.name} cannot add to what it keeps")

    def memory(self) -> int | None:
        """Bytes that statements may take before they spill to disk; None where only the server knows."""
        return None

    def drop(self, name: str) -> None:
        """Drop a temporary relation made by `materialize` or `keep_rows`."""
        raise NotImplementedError(f"{self.name} cannot keep temporary relations")

    def folded(self, name: str) -> str:
        """A name as the engine reads it where it stands without quotes."""
        return name

    def catalog_tables(self) -> list[tuple[str, str]] | None:
        """(schema, name) of the tables and views; None where information_schema says it."""
        return None

    def catalog_columns(self, most: int) -> list[tuple[str, str, str]] | None:
        """(schema, table, column) of up to so many columns; None where information_schema says it."""
        return None

    def workbench(self) -> Engine:
        """A private engine beside this one for the many small statements of a search; it goes with this one.

        Its statements are noted with those of this engine, and `cancel` stops them too.
        """
        raise NotImplementedError(f"{self.name} has no workbench")

    def hand_over(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement on the workbench as `name`: codes and counts, never a cell.

        The result passes through the memory of this machine as a whole; who asks bounds it.
        """
        raise NotImplementedError(f"{self.name} has no workbench")

    def files(self) -> Sequence[Path]:
        """The files that it reads, or may read."""
        return ()

    def lasting(self, relation: Relation) -> str:
        """A FROM item that means the relation in any session, for a view that is to stay."""
        return relation.sql

    def columns_as_arrays(self, statement: Statement) -> dict[str, Any]:
        """The result as one numpy array a column; engines override it where they can do better than rows."""
        import numpy as np

        rows = self.run(statement)
        names = self.result_names(statement)
        return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}

    def result_names(self, statement: Statement) -> Sequence[str]:
        """The column names of a statement's result."""
        raise NotImplementedError

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """The columns of a statement's result with their kinds; the statement is not run."""
        raise NotImplementedError

    def record(self, statement: Statement, seconds: float | None) -> None:
        """Note that a statement ran, and tell the tracer; a connection in its texts is left out (`dblink('…')`)."""
        done = Executed(statement.name, literals_hidden(statement.sql), seconds)
        self.executed.append(done)
        if self.tracer is not None:
            self.tracer(done)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
