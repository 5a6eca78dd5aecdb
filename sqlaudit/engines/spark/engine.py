"""Spark SQL, in one process, on a cluster, or through Spark Connect.

An audit only reads. What it keeps for a while are temporary views over checkpointed results in a session of its own.
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
from sqlaudit.engines.contract import Engine, View, refuse_taken, step_of
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from sqlaudit.engines.spark import open as spark_catalog
from sqlaudit.engines.spark import session as spark_session
from sqlaudit.engines.spark.errors import condition, is_cancelled, sentence
from sqlaudit.engines.spark.open import DIALECT, SparkOpener, bound
from sqlaudit.engines.spark.session import (
    FAILURES,
    Lease,
    PySparkException,
    PySparkLogger,
    fit_partitions,
    is_remote,
    settle,
)
from sqlaudit.engines.spark.values import arrays_of, batches_of, columns_of, parameter, rows_of
from sqlaudit.engines.watch import Deadline, Worker, reporting

# What is kept for a while in Spark: rows that come from Python, and checkpoints that are freed.


def empty_frame(session: Any, columns: Iterable[tuple[str, str]]) -> Any:
    """A frame without rows; `columns` are (name, type of Spark)."""
    listed = [f"CAST(NULL AS {spelled}) AS " + quote(name, DIALECT) for name, spelled in columns]
    return session.sql("SELECT " + ", ".join(listed) + " WHERE FALSE")


def with_rows(session: Any, frame: Any, rows: Sequence[Row]) -> Any:
    """The frame and more rows, which go through Arrow."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    fields = to_arrow_schema(frame.schema)
    arrays = [pa.array(values, type=field.type) for values, field in zip(zip(*rows, strict=True), fields, strict=True)]
    return frame.unionAll(session.createDataFrame(pa.Table.from_arrays(arrays, schema=fields), frame.schema))


def checkpoint(session: Any, frame: Any, made: list[Any]) -> Any:
    """The frame's rows, computed now and kept by Spark's executors.

    Spark notes that rows are to be kept before it computes them, and gives back the frame that frees them afterwards:
    after a statement that was stopped they would be nobody's. So the frame comes first, and is put into `made`, and
    then its rows are computed, by counting them as a statement of the session, which can be stopped.

    A server of Spark Connect frees what no client refers to, so that there is nothing to put into `made`. Its client
    binds what comes back to whatever session was made last in the process, in which the server does not know it; it is
    bound to its own here.
    """
    if not is_remote(session):
        kept = frame.localCheckpoint(eager=False)
        made.append(kept)
        kept.count()
        return kept
    kept = frame.localCheckpoint(eager=True)
    kept._plan._spark_session = session
    return type(kept)(kept._plan, session)


@contextmanager
def freed_on_failure() -> Iterator[list[Any]]:
    """A list for checkpoints, which are freed when the block ends in an error or is stopped."""
    made: list[Any] = []
    try:
        yield made
    except BaseException:
        for frame in made:
            with suppress(*FAILURES):
                free(frame)
        raise


def free(frame: Any) -> None:
    """Free what a checkpoint holds; a server of Spark Connect does so once nobody here refers to it."""
    if is_remote(frame.sparkSession):
        return
    plan = frame._jdf.queryExecution().logical()
    if plan.getClass().getSimpleName() == "LogicalRDD":
        plan.rdd().unpersist(False)


# How far Spark is with what an engine asked for: tasks done of the tasks known so far.


class TasksDone:
    """The share of tasks that are done, of the jobs of one session.

    Args:
        lease: the session; a server of Spark Connect tells by itself, another Spark is asked.
    """

    def __init__(self, lease: Lease) -> None:
        self._session, self._remote = lease.session, lease.remote
        self._told: float | None = None
        if self._remote:
            self._session.registerProgressHandler(self._tell)

    def __call__(self) -> float | None:
        """The share between 0 and 1; None when nothing is known."""
        if self._remote:
            return self._told
        with suppress(*FAILURES):
            return self._asked()
        return None

    def close(self) -> None:
        """Listen no more."""
        if self._remote:
            self._session.removeProgressHandler(self._tell)

    def _tell(self, stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        counts = [(stage.num_tasks, stage.num_completed_tasks) for stage in stages or ()]
        self._told = None if done else _share(counts)

    def _asked(self) -> float | None:
        """Of the stages that run now, in jobs that carry the session's own tag."""
        tracker = self._session._jsparkSession.sparkContext().statusTracker()
        jobs = tracker.getJobIdsForTag(self._session._jsparkSession.sessionJobTag())
        counts = []
        for job in jobs:
            known = tracker.getJobInfo(job)
            for stage in known.get().stageIds() if known.isDefined() else ():
                found = tracker.getStageInfo(stage)
                if found.isDefined():
                    counts.append((found.get().numTasks(), found.get().numCompletedTasks()))
        return _share(counts)


def _share(counts: list[tuple[int, int]]) -> float | None:
    tasks = sum(known for known, _ in counts)
    return sum(done for _, done in counts) / tasks if tasks else None


# Silence: pyspark logs errors with the values that they quote; not while a statement of ours runs.

T = TypeVar("T")


class _Silence(logging.Filter):
    """Drops what pyspark logs of errors while a statement of ours runs: its messages quote values."""

    def __init__(self) -> None:
        super().__init__()
        self.local = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        """False in a thread that is at work for an engine."""
        return not getattr(self.local, "at_work", False)


_SILENCE = _Silence()


for _logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_logger).addFilter(_SILENCE)


def quietly(work: Callable[[], T]) -> T:
    """What the work returns; what pyspark logs of errors meanwhile is dropped, since it quotes values."""
    _SILENCE.local.at_work = True
    try:
        return work()
    finally:
        _SILENCE.local.at_work = False


Names = Callable[[str], Iterable[str]] | Iterable[str]


_WITHOUT_CONSTANTS = re.compile(
    r"$|==|[\s:+*-]*(?:\w+ )*\w+ \(\d+\)$|\(\d+\) [\w ]+(?:$|\[codegen)|Join type: "
    r"|(?:Output|Input) \[\d+\]: \[(?:\w+#\d+L?(?:, )?)*\]$"
)


def _has_no_constant(line: str) -> bool:
    """True for the lines of a plan that name operators and columns, and hold no expression."""
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
    joins_nulls = True
    reads_files = True
    finds_files = True

    def __init__(self, db: Any, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._worker = Worker(self._interrupt)
        self._views: dict[str, Any] = {}
        self.private_prefix = f"sqlaudit_{uuid.uuid4().hex[:12]}_"
        self._bench: DuckDBEngine | None = None
        self._opened = 0
        self._running = False
        self._cancelled = threading.Event()
        self._closed = False
        found = spark_session.lease(db, self.limits)
        self._lease, self._session = found, found.session
        self._tasks = TasksDone(found)
        self._deadline = Deadline(self.seconds_left(), self._interrupt)
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
        return self.note_remarks(relation)

    def _keep_view(self, frame: Any, stem: str) -> str:
        """A temporary view over a frame under a name that nobody else has."""
        self._opened += 1
        view = f"{self.private_prefix}{stem}_{self._opened}"
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
        during = step_of(statement)
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
        """Forget a checkpoint, and free what it holds."""
        frame = self._views.pop(view, None)
        if frame is not None:
            with suppress(*FAILURES):
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

    def workbench(self) -> DuckDBEngine:
        """A DuckDB in memory, with what is left of the limits."""
        if self._bench is None:
            self._bench = DuckDBEngine(None, self.limits_left())
            self._bench.executed = self.executed
        self._bench.tracer, self._bench.progress = self.tracer, self.progress
        return self._bench

    def hand_over(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement on the workbench as `name`; it travels through Arrow."""
        table = self._finished(statement, lambda: self._frame(statement.sql).toArrow())
        return self.workbench().keep_arrow(name, table)

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """The columns of a statement's result with their kinds; the statement is not run."""
        return self._do(step_of(statement), lambda: columns_of(self._frame(statement.sql).schema))

    def explain(self, statement: Statement, show_values: bool = False) -> str:
        """Return Spark's plan for a statement; the statement is not run.

        Spark writes texts without quotes. So what an operator does with its columns is left out with their constants.
        """
        text = "EXPLAIN FORMATTED " + statement.sql
        plan = str(self._do(step_of(statement), lambda: self._session.sql(text).collect()[0][0]))
        return plan if show_values else "\n".join(line for line in plan.splitlines() if _has_no_constant(line))

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
            done = self._do(step_of(statement), work)
        self.record(statement, time.monotonic() - begun)
        return done

    def _do(self, during: str, work: Callable[[], T], names: Names = ()) -> T:
        """Run work on Spark; whatever goes wrong leaves as an error of ours."""
        if self._deadline.over:
            raise self.out_of_time(during)
        self._cancelled.clear()
        self._running = True
        try:
            done = self._worker.do(lambda: quietly(work))
        except FAILURES as error:
            raise self._reason(error, during, names) from None
        finally:
            self._running = False
        if self._cancelled.is_set() and not self._deadline.over:
            raise Interrupted(f"Stopped in {during}.")
        return done

    def _reason(self, error: Exception, during: str, names: Names) -> Exception:
        if self._deadline.over and is_cancelled(error):
            return self.out_of_time(during)
        if self._cancelled.is_set() or is_cancelled(error):
            return Interrupted(f"Stopped in {during}.")
        known = names(condition(error).partition(".")[0]) if callable(names) else names
        return sentence(error, during, known)

    def _interrupt(self) -> None:
        """Stop every job of this engine's session, and of no other."""
        if self._running:
            with suppress(*FAILURES):
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
        with suppress(*FAILURES):
            quietly(partial(self._session.catalog.dropTempView, view))
        self._release(view)


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


# Making a view in Spark's catalog: a connection of its own, and one statement that writes.

DURING = "making the view"
_KINDS = {"VIEW": "view", "TEMPORARY": "temporary view", "MANAGED": "table", "EXTERNAL": "table"}


def make_view(db: str, view: View, replace: bool) -> None:
    """Make the view; see `create_view`."""
    lease = spark_session.lease(db, Limits())
    try:
        quietly(partial(settle, lease.session))
        refuse_fleeting(db, lease.session)
        quietly(partial(_make, lease.session, view, replace))
    except FAILURES as error:
        raise _reason(error, view) from None
    finally:
        lease.give_back()


def refuse_fleeting(db: str, session: Any) -> None:
    """Nothing when a view lives longer than what this process starts.

    Raises:
        UsageError: the catalog lies in the memory of a Spark that is started here and ends with it.
    """
    own = session.conf.get("spark.sql.catalogImplementation", "in-memory") == "in-memory"
    if not db.startswith("sc://") and own and session.catalog.currentCatalog() == "spark_catalog":
        raise UsageError(
            "The catalog of this Spark is temporary, so it cannot keep a view. Name a server of Spark Connect "
            "(sc://host:port), configure a metastore, or write the release to a file "
            f"({spelled('to')})."
        )


def _make(session: Any, view: View, replace: bool) -> None:
    name = ".".join(quote(part, "spark") for part in view.parts())
    tables = session.catalog
    kind = _KINDS.get(tables.getTable(name).tableType, "table") if tables.tableExists(name) else ""
    refuse_taken(view, kind, replace)
    text = view.statement("spark")
    session.sql(text.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1) if replace else text).collect()


def _reason(error: Exception, view: View) -> SqlauditError:
    """What went wrong, in words for someone who wants to write for once."""
    code = condition(error).partition(".")[0] if isinstance(error, PySparkException) else ""
    if code in ("SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND"):
        return UsageError(f"There is no schema for the view {view.name!r}.")
    if code == "INVALID_TEMP_OBJ_REFERENCE":
        return UsageError(f"The view {view.name!r} would read a temporary view, which others do not see; name a table.")
    if code in ("INSUFFICIENT_PERMISSIONS", "PERMISSION_DENIED"):
        return PermissionDenied(f"This user may not make the view {view.name!r}.")
    return sentence(error, DURING)
