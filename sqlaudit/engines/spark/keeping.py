"""What is kept for a while in Spark: rows that come from Python, and checkpoints that are freed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from sqlaudit.base.names import quote
from sqlaudit.base.relation import Row
from sqlaudit.engines.spark.session import FAILURES, is_remote

DIALECT = "spark"


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
