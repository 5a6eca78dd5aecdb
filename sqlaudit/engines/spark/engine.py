"""Spark SQL, in one process, on a cluster, or through Spark Connect.

An audit only reads. What it keeps for a while are temporary views over checkpointed results in a session of its own.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from sqlaudit.base.errors import Incomplete, Interrupted
from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Relation, Row, Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from sqlaudit.engines.spark import catalog as spark_catalog
from sqlaudit.engines.spark import session as spark_session
from sqlaudit.engines.spark.errors import condition, is_cancelled, sentence
from sqlaudit.engines.spark.keeping import checkpoint, empty_frame, free, freed_on_failure, with_rows
from sqlaudit.engines.spark.open import DIALECT, SparkOpener, bound
from sqlaudit.engines.spark.progress import TasksDone
from sqlaudit.engines.spark.settings import fit_partitions, settle
from sqlaudit.engines.spark.silence import quietly
from sqlaudit.engines.spark.values import arrays_of, batches_of, columns_of, parameter, rows_of
from sqlaudit.engines.watch import Deadline, Worker, reporting

T = TypeVar("T")
Names = Callable[[str], Iterable[str]] | Iterable[str]


class SparkEngine(Engine):
    """A session of Spark that reads tables, views, files and frames, and changes nothing.

    Args:
        db: `spark:local[4]`, `spark:yarn`, `spark://host:port`, `sc://host:15002` …, or a SparkSession, which is
            never stopped and stays as it is.
        limits: `timeout` is for the whole command; `memory` and `threads` are for a Spark that is started here.

    Raises:
        UsageError: `db` or a limit cannot be understood.
        MissingDriver: no pyspark or no Java, or one that is too old.
        ConnectionFailed: the server or cluster cannot be reached.

    Example:
        >>> with SparkEngine("spark:local") as engine:  # doctest: +SKIP
        ...     engine.open(Target("events/*.parquet")).columns[0].name
        'age'
    """

    name = "Spark"
    dialect = DIALECT
    can_materialize = True
    joins_nulls = True
    reads_files = True
    finds_files = True

    def __init__(self, db: Any, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._worker = Worker(self._interrupt)
        self._views: dict[str, Any] = {}
        self._id = uuid.uuid4().hex[:12]
        self._bench: DuckDBEngine | None = None
        self._opened = 0
        self._running = False
        self._cancelled = threading.Event()
        self._closed = False
        found = spark_session.lease(db, self.limits)
        self._lease, self._session = found, found.session
        self._tasks = TasksDone(found)
        self._deadline = Deadline(self._seconds_left(), self._interrupt)
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            self._do("the start of the audit", lambda: settle(self._session))
            on_failure.pop_all()
        self._opener = SparkOpener(self._session, self._do, self._keep_view)

    # --- targets ---

    def open(self, target: Target) -> Relation:
        """Resolve a target: a table or view (`schema.table`), files that Spark reads, a frame, or a query.

        Raises:
            UsageError: no such table or file, two columns of one name, or a query or condition that cannot be run.
            PermissionDenied: the user may not read it.
        """
        if target.buckets is not None:
            from sqlaudit.engines.buckets import of_buckets

            return of_buckets(self, target, target.buckets)
        relation = self._opener.open(target)
        if self._lease.local:
            select = "SELECT * FROM " + relation.sql
            self._do("the table's size", lambda: fit_partitions(self._session, self._session.sql(select)))
        return relation

    def _keep_view(self, frame: Any, stem: str) -> str:
        """A temporary view over a frame under a name that nobody else has."""
        self._opened += 1
        view = f"sqlaudit_{self._id}_{stem}_{self._opened}"
        self._do("a view", lambda: frame.createOrReplaceTempView(view))
        self._views[view] = None
        return quote(view, DIALECT)

    # --- statements ---

    def run(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement (aggregates only); `parameters` stand in it as $1, $2, …

        Raises:
            UsageError, EngineError, PermissionDenied: Spark refused or failed.
            Incomplete: the time limit was reached, or the result is too large to come back.
            Interrupted: `cancel` was called.
        """
        return self._finished(statement, lambda: rows_of(self._frame(statement.sql, parameters).toArrow()))

    def columns_as_arrays(self, statement: Statement) -> dict[str, Any]:
        """The result as one numpy array a column: int64, float64, or objects where neither is exact; NULLs masked."""
        return self._finished(statement, lambda: arrays_of(self._frame(statement.sql).toArrow()))

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """The rows of a statement in batches; Spark hands over one partition at a time."""
        begun = time.monotonic()
        during = _step(statement)
        described = self.result_columns(statement)
        frame = self._do(during, lambda: self._frame(_in_plain_time(statement.sql, described)))
        rows = self._do(during, lambda: batches_of(frame.toLocalIterator(), described, batch))
        while (found := self._do(during, lambda: next(rows, None))) is not None:
            yield found
        self.record(statement, time.monotonic() - begun)

    def materialize(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement as a temporary view over a checkpoint, replacing an older one of this name.

        A checkpoint and no cache: Spark computes a lost part of a cache again, and rows that were numbered, or come
        from a table that changed meanwhile, would not be the same ones again. A lost part of a checkpoint is an error.
        """
        with freed_on_failure() as made:
            frame = self._finished(statement, lambda: checkpoint(self._session, self._frame(statement.sql), made))
            return self._kept(name, frame)

    def keep_rows(self, name: str, columns: Sequence[tuple[str, str]], batches: Iterable[Sequence[Row]]) -> Relation:
        """Keep rows that come in batches as a temporary view, replacing an older relation of this name."""
        begun = time.monotonic()
        during = "keep " + name
        frame = self._do(during, lambda: empty_frame(self._session, columns))
        for batch in batches:
            if batch:
                frame = self._do(during, partial(with_rows, self._session, frame, list(batch)))
        with freed_on_failure() as made:
            kept = self._kept(name, self._do(during, lambda: checkpoint(self._session, frame, made)))
        self.record(Statement(during, "/* rows of this machine as " + kept.sql + " */"), time.monotonic() - begun)
        return kept

    def _kept(self, name: str, frame: Any) -> Relation:
        view = f"sqlaudit_{self._id}_kept_{name}"
        self._do("a view", lambda: frame.createOrReplaceTempView(view))
        self._release(view)
        self._views[view] = frame
        return Relation(quote(view, DIALECT), columns_of(frame.schema), name)

    def drop(self, name: str) -> None:
        """Drop a relation made by `materialize` or `keep_rows`."""
        view = f"sqlaudit_{self._id}_kept_{name}"
        self._do("drop " + name, lambda: self._session.catalog.dropTempView(view))
        self._release(view)

    def _release(self, view: str) -> None:
        """Forget a checkpoint, and free what it holds."""
        frame = self._views.pop(view, None)
        if frame is not None:
            with suppress(*spark_session.FAILURES):
                free(frame)

    def catalog_tables(self) -> list[tuple[str, str]] | None:
        """(schema, name) of the tables and views of the current catalog; temporary views have no schema."""
        return self._do("Spark's catalog", lambda: spark_catalog.tables(self._session))

    def catalog_columns(self, most: int) -> list[tuple[str, str, str]] | None:
        """(schema, table, column) of the first tables of the current catalog."""
        listed = self.catalog_tables() or []
        return self._do("Spark's catalog", lambda: spark_catalog.columns(self._session, listed, most))

    def lasting(self, relation: Relation) -> str:
        """A FROM item that means the relation in any session, for a view that is to stay.

        Raises:
            UsageError: it is a frame or a text file.
        """
        return self._opener.lasting(relation)

    def workbench(self) -> Engine:
        """A DuckDB in memory, with what is left of the limits."""
        return self._workbench()

    def _workbench(self) -> DuckDBEngine:
        if self._bench is None:
            left = self._seconds_left()
            limits = self.limits if left is None else replace(self.limits, timeout=max(0.001, left))
            self._bench = DuckDBEngine(None, limits)
            self._bench.executed = self.executed
        self._bench.tracer, self._bench.progress = self.tracer, self.progress
        return self._bench

    def hand_over(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement on the workbench as `name`; it travels through Arrow."""
        table = self._finished(statement, lambda: self._frame(statement.sql).toArrow())
        return self._workbench().keep_arrow(name, table)

    def result_names(self, statement: Statement) -> Sequence[str]:
        """The column names of a statement's result; the statement is not run."""
        return [column.name for column in self.result_columns(statement)]

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """The columns of a statement's result with their kinds; the statement is not run."""
        return self._do(_step(statement), lambda: columns_of(self._frame(statement.sql).schema))

    def explain(self, statement: Statement) -> str:
        """Spark's plan for a statement; the statement is not run."""
        text = "EXPLAIN FORMATTED " + statement.sql
        return str(self._do(_step(statement), lambda: self._session.sql(text).collect()[0][0]))

    def version(self) -> str:
        """For instance `Spark 4.3.0`."""
        return "Spark " + str(self._do("Spark's version", lambda: self._session.version))

    def access(self) -> str:
        """The user, who writes nothing: Spark has no read-only mode, so this is what the statements do."""
        user = self._do("Spark's user", lambda: self._session.sql("SELECT current_user()").collect()[0][0])
        return f"user {user}, SELECT only; temporary views in a session of its own"

    # --- the way through ---

    def _frame(self, text: str, parameters: Sequence[Any] = ()) -> Any:
        if not parameters:
            return self._session.sql(text)
        given = {f"p{place}": parameter(value) for place, value in enumerate(parameters, 1)}
        return self._session.sql(bound(text, len(parameters)), args=given)

    def _finished(self, statement: Statement, work: Callable[[], T]) -> T:
        """What the work returns; noted with its time."""
        begun = time.monotonic()
        with reporting(self.progress, statement.name, self._tasks):
            done = self._do(_step(statement), work)
        self.record(statement, time.monotonic() - begun)
        return done

    def _do(self, during: str, work: Callable[[], T], names: Names = ()) -> T:
        """Run work on Spark; whatever goes wrong leaves as an error of ours."""
        if self._deadline.over:
            raise self._out_of_time(during)
        self._cancelled.clear()
        self._running = True
        try:
            done = self._worker.do(lambda: quietly(work))
        except spark_session.FAILURES as error:
            raise self._reason(error, during, names) from None
        finally:
            self._running = False
        if self._cancelled.is_set() and not self._deadline.over:
            raise Interrupted(f"Stopped in {during}.")
        return done

    def _reason(self, error: Exception, during: str, names: Names) -> Exception:
        if self._deadline.over and is_cancelled(error):
            return self._out_of_time(during)
        if self._cancelled.is_set() or is_cancelled(error):
            return Interrupted(f"Stopped in {during}.")
        known = names(condition(error).partition(".")[0]) if callable(names) else names
        return sentence(error, during, known)

    def _out_of_time(self, during: str) -> Incomplete:
        return Incomplete(f"The time limit of {self.limits.timeout:g} seconds was reached in {during}.")

    def _seconds_left(self) -> float | None:
        if self.limits.timeout is None:
            return None
        return self.limits.timeout - (time.monotonic() - self.started)

    def _interrupt(self) -> None:
        """Stop every job of this engine's session, and of no other."""
        if self._running:
            with suppress(*spark_session.FAILURES):
                quietly(self._session.interruptAll)

    def cancel(self) -> None:
        """Stop the running statement, which then raises `Interrupted`; does nothing when none runs."""
        if self._bench is not None:
            self._bench.cancel()
        if not self._running:
            return
        self._cancelled.set()
        self._interrupt()

    def close(self) -> None:
        """Stop what runs, drop the views, and end the session; safe to call twice."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as each:  # from the last to the first, each also when Ctrl-C ends the one before it
            each.callback(self._lease.give_back)
            each.callback(self._worker.stop)
            if self._bench is not None:
                each.callback(self._bench.close)
            each.callback(self._tasks.close)
            for view in list(self._views):
                each.callback(self._drop, view)
            each.callback(self._deadline.stop)
            each.callback(self._interrupt)

    def _drop(self, view: str) -> None:
        with suppress(*spark_session.FAILURES):
            quietly(partial(self._session.catalog.dropTempView, view))
        self._release(view)


def _step(statement: Statement) -> str:
    return f"the step {statement.name!r}"


def _in_plain_time(sql: str, described: Sequence[ColumnInfo]) -> str:
    """The statement with times as plain UTC ones: pyspark moves others into the zone of the machine."""
    if not any(column.type.startswith("timestamp") and column.type != "timestamp_ntz" for column in described):
        return sql
    names = [quote(f"c{place}", DIALECT) for place, _ in enumerate(described)]
    items = [
        "CAST(" + name + " AS TIMESTAMP_NTZ)" if column.kind.value == "timestamp" else name
        for name, column in zip(names, described, strict=True)
    ]
    return "SELECT " + ", ".join(items) + " FROM (\n" + sql + "\n) AS given(" + ", ".join(names) + ")"
