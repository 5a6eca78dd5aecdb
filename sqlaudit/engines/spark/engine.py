"""Spark SQL, in one process, on a cluster, or through Spark Connect.

An audit only reads. The relations that it keeps are temporary views over checkpoints, in a session of its own.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from sqlaudit.base.errors import Interrupted, PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import ColumnInfo, Relation, Row, Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines.contract import Engine, View, refuse_taken, returned_rows, step_of
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from sqlaudit.engines.spark import open as spark_catalog
from sqlaudit.engines.spark import session as spark_session
from sqlaudit.engines.spark.errors import condition, is_cancelled, sentence
from sqlaudit.engines.spark.open import DIALECT, SparkOpener, bind_parameters
from sqlaudit.engines.spark.session import (
    FAILURES,
    Lease,
    PySparkException,
    arrow_of,
    bind_to_session,
    fit_partitions,
    frame_of,
    get_logger,
    is_remote,
    java_plan,
    java_session,
    refuse_substituted,
    settle,
)
from sqlaudit.engines.spark.values import arrays_of, batches_of, columns_of, parameter, rows_of
from sqlaudit.engines.watch import Deadline, Worker, reporting

# Relations that are kept in Spark for a while: rows that come from Python, and checkpoints, which are freed.


def empty_frame(session: Any, columns: Iterable[tuple[str, str]]) -> Any:
    """Return a frame without rows; `columns` are (name, type of Spark)."""
    items = [f"CAST(NULL AS {type_name}) AS " + quote(name, DIALECT) for name, type_name in columns]
    return session.sql("SELECT " + ", ".join(items) + " WHERE FALSE")


def with_rows(session: Any, frame: Any, rows: Sequence[Row]) -> object:
    """Return the frame and more rows, which go through Arrow."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    fields = to_arrow_schema(frame.schema)
    arrays = [pa.array(values, type=field.type) for values, field in zip(zip(*rows, strict=True), fields, strict=True)]
    return frame.unionAll(frame_of(session, pa.Table.from_arrays(arrays, schema=fields), frame.schema))


def checkpoint(session: object, frame: Any, checkpoints: list[object]) -> object:
    """Return a frame of the frame's rows, computed now and kept by Spark's executors.

    Spark notes that rows are to be kept before it computes them, and returns the frame that frees them afterwards:
    after a statement that was stopped, nothing could free them. So the frame is made first, and added to `checkpoints`;
    then its rows are computed, by counting them in a statement of the session, which can be stopped.

    A server of Spark Connect frees what no client refers to, so nothing is added to `checkpoints`. Its client binds the
    returned frame to the session that was made last in the process, in which the server does not know it; here it is
    bound to its own session.
    """
    if not is_remote(session):
        checkpointed = frame.localCheckpoint(eager=False)
        checkpoints.append(checkpointed)
        checkpointed.count()
        return checkpointed
    checkpointed = frame.localCheckpoint(eager=True)
    return bind_to_session(checkpointed, session)


def keeps_checkpoints(session: Any) -> bool:
    """Return True if a server of Spark Connect keeps checkpoints, which is tried with one that is never computed."""
    try:
        session.sql("SELECT 1").localCheckpoint(eager=False)
    except PySparkException:
        return False
    return True


@contextmanager
def freed_on_failure() -> Iterator[list[object]]:
    """Give a list for checkpoints, which are freed if the block ends in an error or is stopped."""
    checkpoints: list[object] = []
    try:
        yield checkpoints
    except BaseException:
        for frame in checkpoints:
            with suppress(*FAILURES):
                free(frame)
        raise


def free(frame: Any) -> None:
    """Free the rows of a checkpoint; a server of Spark Connect does so when no client refers to them."""
    if is_remote(frame.sparkSession):
        return
    plan = java_plan(frame).logical()
    if plan.getClass().getSimpleName() == "LogicalRDD":
        plan.rdd().unpersist(False)


# Progress of a statement in Spark: tasks done of the tasks known so far.


class TasksDone:
    """The share of the tasks of one session that are done.

    Args:
        lease: the session; a server of Spark Connect reports progress by itself, another Spark is asked.
    """

    def __init__(self, lease: Lease) -> None:
        self._session, self._remote, self._tag = lease.session, lease.remote, lease.jobs
        self._reported: float | None = None
        if self._remote:
            self._session.registerProgressHandler(self._note)

    def __call__(self) -> float | None:
        """Return the share between 0 and 1; None if it is unknown."""
        if self._remote:
            return self._reported
        with suppress(*FAILURES):
            return self._ask()
        return None

    def close(self) -> None:
        """Stop listening to reports."""
        if self._remote:
            self._session.removeProgressHandler(self._note)

    def _note(self, stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        counts = [(stage.num_tasks, stage.num_completed_tasks) for stage in stages or ()]
        self._reported = None if done else _share(counts)

    def _ask(self) -> float | None:
        """Return the share of the stages that run now, in jobs with the tag."""
        tracker = java_session(self._session).sparkContext().statusTracker()
        jobs = tracker.getJobIdsForTag(self._tag)
        counts = []
        for job in jobs:
            job_info = tracker.getJobInfo(job)
            for stage in job_info.get().stageIds() if job_info.isDefined() else ():
                stage_info = tracker.getStageInfo(stage)
                if stage_info.isDefined():
                    counts.append((stage_info.get().numTasks(), stage_info.get().numCompletedTasks()))
        return _share(counts)


def _share(counts: list[tuple[int, int]]) -> float | None:
    tasks = sum(total for total, _ in counts)
    return sum(done for _, done in counts) / tasks if tasks else None


# Silence: pyspark logs errors with the values that they quote, which is suppressed while a statement of ours runs.

T = TypeVar("T")


class _Silence(logging.Filter):
    """A filter that drops the log messages of pyspark while a statement of ours runs, since they quote values."""

    def __init__(self) -> None:
        super().__init__()
        self.local = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False in a thread that is at work for an engine."""
        return not getattr(self.local, "at_work", False)


_SILENCE = _Silence()


for _logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    get_logger(_logger).addFilter(_SILENCE)


def quietly(work: Callable[[], T]) -> T:
    """Return the result of work, during which the log messages of pyspark are dropped, since they quote values."""
    _SILENCE.local.at_work = True
    try:
        return work()
    finally:
        _SILENCE.local.at_work = False


Names = Callable[[str], Iterable[str]] | Iterable[str]
_CURRENT_USER = "SELECT current_user() FROM VALUES (1)"
"""Spark answers without a job what reads values that are in the statement, and not what reads nothing."""


_WITHOUT_CONSTANTS = re.compile(
    r"$|==|[\s:+*-]*(?:\w+ )*\w+ \(\d+\)$|\(\d+\) [\w ]+(?:$|\[codegen)|Join type: "
    r"|(?:Output|Input) \[\d+\]: \[(?:\w+#\d+L?(?:, )?)*\]$"
)


def _has_no_constant(line: str) -> bool:
    """Return True for the lines of a plan that name operators and columns, and have no expression."""
    return _WITHOUT_CONSTANTS.match(line) is not None


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
    is_cluster = True
    joins_nulls = True
    reads_files = True
    finds_files = True

    def __init__(self, db: object, limits: Limits | None = None) -> None:
        """Lease a session and make its settings; it is closed again if one is refused."""
        super().__init__(limits)
        # What `close` needs comes before what can fail
        self._worker = Worker(self._interrupt)
        self._views: dict[str, object] = {}
        self.private_prefix = f"sqlaudit_{uuid.uuid4().hex[:12]}_"
        self._bench: DuckDBEngine | None = None
        self._opened = 0
        self._running = False
        self._cancelled = threading.Event()
        self._closed = False
        lease = spark_session.lease(db, self.limits)
        self._lease, self._session = lease, lease.session
        self._tasks = TasksDone(lease)
        self._deadline = Deadline(self.seconds_left(), self._interrupt)
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            settings = partial(settle, self._session, check_only=bool(lease.tag))
            self._missing: frozenset[str] = self._do("the start of the audit", settings)
            if lease.remote:  # shared and serverless servers keep nothing
                self.can_materialize = self._do("the start of the audit", lambda: keeps_checkpoints(self._session))
            on_failure.pop_all()
        self._opener = SparkOpener(self._session, self._do, self._keep_view, self._missing)

    # --- targets ---

    def reading_options(self, target: Target) -> frozenset[str]:
        """Return the options of how files are read that a table has: none, unless it is a file."""
        return self._opener.reading_options(target)

    def open(self, target: Target) -> Relation:
        """Resolve a target: a table or view (`schema.table`), files that Spark reads, a frame, or a query.

        Raises:
            UsageError: no such table or file, two columns of one name, or a query or condition that cannot be run.
            PermissionDenied: the user may not read it.
        """
        if target.buckets is not None:
            from sqlaudit.engines.buckets import open_buckets

            return open_buckets(self, target, target.buckets)
        relation = self._opener.open(target)
        if self._lease.local:
            select = "SELECT * FROM " + relation.sql
            self._do("the table's size", lambda: fit_partitions(self._session, self._session.sql(select)))
        return self.note_remarks(relation)

    def _keep_view(self, frame: Any, stem: str) -> str:
        """Return the name of a new temporary view over a frame, which no other session uses."""
        self._opened += 1
        view = f"{self.private_prefix}{stem}_{self._opened}"
        self._do("a view", lambda: frame.createOrReplaceTempView(view))
        self._views[view] = None
        return quote(view, DIALECT)

    # --- statements ---

    def run(self, statement: Statement, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a statement (aggregates only); `parameters` are its $1, $2, …

        Raises:
            UsageError, EngineError, PermissionDenied: Spark refused or failed.
            Incomplete: the time limit was reached, or the result is too large to be returned.
            Interrupted: `cancel` was called.
        """
        return self._run(statement, lambda: rows_of(arrow_of(self._frame(statement.sql, parameters))))

    def columns_as_arrays(self, statement: Statement) -> dict[str, object]:
        """Return the result as one numpy array per column: int64, float64, or else objects; NULLs are masked."""
        return self._run(statement, lambda: arrays_of(arrow_of(self._frame(statement.sql))))

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """Yield the rows of a statement in batches; Spark returns one partition at a time."""
        begun, streamed = time.monotonic(), 0
        during = step_of(statement)
        described = self.result_columns(statement)
        frame = self._do(during, lambda: self._frame(_in_plain_time(statement.sql, described)))
        rows = self._do(during, lambda: batches_of(frame.toLocalIterator(), described, batch))
        while (fetched := self._do(during, lambda: next(rows, None))) is not None:
            streamed += len(fetched)
            yield fetched
        self.record(statement, time.monotonic() - begun, streamed)

    def materialize(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement as a temporary view over a checkpoint, replacing an older one of this name.

        It is not a cache, because Spark computes a lost part of a cache again, and rows that were numbered, or come
        from a table that changed meanwhile, would then differ. A lost part of a checkpoint is an error.
        """
        with freed_on_failure() as checkpoints:
            frame = self._run(statement, lambda: checkpoint(self._session, self._frame(statement.sql), checkpoints))
            return self._keep(name, frame)

    def keep_rows(self, name: str, columns: Sequence[tuple[str, str]], batches: Iterable[Sequence[Row]]) -> Relation:
        """Keep rows that come in batches as a temporary view, replacing an older relation of this name."""
        begun = time.monotonic()
        during = "keep " + name
        frame = self._do(during, lambda: empty_frame(self._session, columns))
        for batch in batches:
            if batch:
                frame = self._do(during, partial(with_rows, self._session, frame, list(batch)))
        with freed_on_failure() as checkpoints:
            relation = self._keep(name, self._do(during, lambda: checkpoint(self._session, frame, checkpoints)))
        self.record(Statement(during, "/* rows of this machine as " + relation.sql + " */"), time.monotonic() - begun)
        return relation

    def look_up(self, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[Row]) -> Relation:
        """Return a few rows as a temporary view, which Spark sends to its executors with each statement."""
        during = "keep " + name
        empty = self._do(during, lambda: empty_frame(self._session, columns))
        return self._keep(name, self._do(during, lambda: with_rows(self._session, empty, rows)))

    def _keep(self, name: str, frame: Any) -> Relation:
        """Keep a frame as a temporary view, replacing an older one of this name."""
        view = f"{self.private_prefix}kept_{name}"
        self._do("a view", lambda: frame.createOrReplaceTempView(view))
        self._release(view)
        self._views[view] = frame
        return Relation(quote(view, DIALECT), columns_of(frame.schema), name)

    def drop(self, name: str) -> None:
        """Drop a relation made by `materialize` or `keep_rows`."""
        view = f"{self.private_prefix}kept_{name}"
        self._do("drop " + name, lambda: self._session.catalog.dropTempView(view))
        self._release(view)

    def _release(self, view: str) -> None:
        """Forget a view, and free its checkpoint."""
        frame = self._views.pop(view, None)
        if frame is not None:
            with suppress(*FAILURES):
                free(frame)

    def catalog_tables(self) -> list[tuple[str, str]] | None:
        """Return (schema, name) of the tables and views of the current catalog; temporary views have no schema."""
        return self._do("Spark's catalog", lambda: spark_catalog.tables(self._session))

    def catalog_columns(self, most: int) -> list[tuple[str, str, str]] | None:
        """Return (schema, table, column) of the first tables of the current catalog."""
        tables = self.catalog_tables() or []
        return self._do("Spark's catalog", lambda: spark_catalog.columns(self._session, tables, most))

    def lasting(self, relation: Relation) -> str:
        """Return a FROM item that means the relation in any session, for a view that remains.

        Raises:
            UsageError: the relation is a frame or a text file.
        """
        return self._opener.lasting(relation)

    def refuse_fleeting(self, view: View) -> None:
        """Raise UsageError if a view or table made here would end with the Spark of this process."""
        if not self._lease.remote:
            self._do("Spark's catalog", lambda: refuse_fleeting(self._session, view))

    def workbench(self) -> DuckDBEngine:
        """Return a DuckDB in memory, with what is left of the limits."""
        if self._bench is None:
            self._bench = DuckDBEngine(None, self.limits_left())
            self._bench.executed = self.executed
        self._bench.tracer, self._bench.progress = self.tracer, self.progress
        return self._bench

    def hand_over(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement on the workbench as `name`; it passes through Arrow."""
        table = self._run(statement, lambda: arrow_of(self._frame(statement.sql)))
        return self.workbench().keep_frame(name, table)

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """Return the columns of a statement's result with their kinds; the statement is not run."""
        return self._do(step_of(statement), lambda: columns_of(self._frame(statement.sql).schema))

    def explain(self, statement: Statement, show_values: bool = False) -> str:
        """Return Spark's plan for a statement; the statement is not run.

        Spark writes texts without quotes, so the expressions of operators are left out together with their constants.
        """
        text = "EXPLAIN FORMATTED " + statement.sql
        plan = str(self._do(step_of(statement), lambda: self._session.sql(text).collect()[0][0]))
        return plan if show_values else "\n".join(line for line in plan.splitlines() if _has_no_constant(line))

    def version(self) -> str:
        """Return the name and version of the engine, such as `Spark 4.3.0`."""
        return "Spark " + str(self._do("Spark's version", lambda: self._session.version))

    def access(self) -> str:
        """Return the user, and that it only reads. Spark has no read-only mode, so this is what the statements do."""
        user = self._do("Spark's user", lambda: self._session.sql(_CURRENT_USER).collect()[0][0])
        place = "the session that was given" if self._lease.tag else "a session of its own"
        return f"user {user}, SELECT only; temporary views in {place}"

    # --- running work on Spark ---

    def _frame(self, text: str, parameters: Sequence[object] = ()) -> Any:
        """Return the frame of a statement with its parameters."""
        refuse_substituted(text, self._missing)
        if not parameters:
            return self._session.sql(text)
        named = [parameter(value, f":p{number}") for number, value in enumerate(parameters, 1)]
        arguments = {f"p{number}": value for number, (_, value) in enumerate(named, 1)}
        return self._session.sql(bind_parameters(text, [name for name, _ in named]), args=arguments)

    def _run(self, statement: Statement, work: Callable[[], T]) -> T:
        """Return what the work of a statement returns, and record the statement with its time."""
        begun = time.monotonic()
        with reporting(self.progress, statement.name, self._tasks):
            done = self._do(step_of(statement), work)
        self.record(statement, time.monotonic() - begun, returned_rows(done))
        return done

    def _do(self, during: str, work: Callable[[], T], names: Names = ()) -> T:
        """Return what work on Spark returns; raise its errors as ours."""
        if self._deadline.over:
            raise self.out_of_time(during)
        self._cancelled.clear()
        self._running = True
        try:
            done = self._worker.do(lambda: quietly(partial(self._lease.do, work)))
        except FAILURES as error:
            raise self._reason(error, during, names) from None
        finally:
            self._running = False
        if self._cancelled.is_set() and not self._deadline.over:
            raise Interrupted(f"Stopped in {during}.")
        return done

    def _reason(self, error: Exception, during: str, names: Names) -> Exception:
        """Return our error for an error of Spark."""
        if self._deadline.over and is_cancelled(error):
            return self.out_of_time(during)
        if self._cancelled.is_set() or is_cancelled(error):
            return Interrupted(f"Stopped in {during}.")
        known_names = names(condition(error).partition(".")[0]) if callable(names) else names
        return sentence(error, during, known_names)

    def _interrupt(self) -> None:
        """Stop every job of this engine's session, and of no other."""
        if self._running:
            quietly(self._lease.interrupt)

    def cancel(self) -> None:
        """Stop the running statement, which then raises `Interrupted`; does nothing if none runs."""
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
        with ExitStack() as callbacks:  # from the last to the first, each also if Ctrl-C ends the one before it
            callbacks.callback(self._lease.give_back)
            callbacks.callback(self._worker.stop)
            if self._bench is not None:
                callbacks.callback(self._bench.close)
            callbacks.callback(self._tasks.close)
            for view in list(self._views):
                callbacks.callback(self._drop, view)
            callbacks.callback(self._deadline.stop)
            callbacks.callback(self._interrupt)

    def _drop(self, view: str) -> None:
        with suppress(*FAILURES):
            quietly(partial(self._session.catalog.dropTempView, view))
        self._release(view)


def _in_plain_time(sql: str, described: Sequence[ColumnInfo]) -> str:
    """Return the statement with times as plain UTC ones: pyspark moves others into the zone of the machine."""
    if not any(column.type.startswith("timestamp") and column.type != "timestamp_ntz" for column in described):
        return sql
    names = [quote(f"c{number}", DIALECT) for number, _ in enumerate(described)]
    items = [
        "CAST(" + name + " AS TIMESTAMP_NTZ)" if column.kind.value == "timestamp" else name
        for name, column in zip(names, described, strict=True)
    ]
    return "SELECT " + ", ".join(items) + " FROM (\n" + sql + "\n) AS given(" + ", ".join(names) + ")"


# Views and tables in Spark's catalog, made in a session of their own with one statement that writes.

_KINDS = {"VIEW": "view", "TEMPORARY": "temporary view", "MANAGED": "table", "EXTERNAL": "table"}


def make_view(db: object, view: View, replace: bool) -> None:
    """Make the view or table, as `create_view` describes.

    If it is stopped, so is the statement, and Spark removes the rows of a table that is not complete.
    """
    lease = spark_session.lease(db, Limits())
    try:
        missing = quietly(partial(settle, lease.session, check_only=bool(lease.tag)))
        refuse_substituted(view.statement("spark"), missing)
        quietly(partial(_make, lease, view, replace))
    except FAILURES as error:
        raise _reason(error, view) from None
    finally:
        lease.give_back()


def refuse_fleeting(session: Any, view: View) -> None:
    """Refuse to make a view or table that would end with the Spark of this process.

    Raises:
        UsageError: its catalog is in the memory of that Spark.
    """
    is_in_memory = session.conf.get("spark.sql.catalogImplementation", "in-memory") == "in-memory"
    catalog = view.parts()[0] if len(view.parts()) > 2 else session.catalog.currentCatalog()
    if is_in_memory and catalog == "spark_catalog":
        raise UsageError(
            f"The catalog of this Spark is temporary, so it cannot keep a {view.kind}. Name a server of Spark Connect "
            "(sc://host:port), configure a metastore, or write the release to a file "
            f"({spelled('to')})."
        )


def _make(lease: Lease, view: View, replace: bool) -> None:
    """Make the view or table, or replace a view of its name."""
    session, name = lease.session, view.quoted("spark")
    tables = session.catalog
    kind = _KINDS.get(tables.getTable(name).tableType, "table") if tables.tableExists(name) else ""
    refuse_taken(view, kind, replace)
    text = view.statement("spark")
    text = text.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1) if replace else text
    if not lease.tag:
        with suppress(PySparkException):  # a table in the format of its catalog, not one of text by Hive
            session.conf.set("spark.sql.legacy.createHiveTableByDefault", "false")
    with ExitStack() as unless_done:
        unless_done.callback(lease.interrupt)
        lease.do(lambda: session.sql(text).collect())
        unless_done.pop_all()


def _reason(error: Exception, view: View) -> SqlauditError:
    """Return our error for an error of making a view."""
    code = condition(error).partition(".")[0] if isinstance(error, PySparkException) else ""
    if code in ("SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND"):
        return UsageError(f"There is no schema for the {view.kind} {view.name!r}.")
    if code == "INVALID_SCHEMA_OR_RELATION_NAME":
        return UsageError(f"{view.name!r}: this catalog of Spark takes only letters, digits and _ in names.")
    if code == "INVALID_TEMP_OBJ_REFERENCE":
        what = f"The {view.kind} {view.name!r}"
        return UsageError(f"{what} would read a temporary view, which others do not see; name a table.")
    if code in ("INSUFFICIENT_PERMISSIONS", "PERMISSION_DENIED"):
        return PermissionDenied(f"This user may not make the {view.kind} {view.name!r}.")
    return sentence(error, f"making the {view.kind}")
