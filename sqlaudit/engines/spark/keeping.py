"""What is kept for a while in Spark: rows that come from Python, and checkpoints that are freed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlaudit.base.names import quote
from sqlaudit.base.relation import Row
from sqlaudit.engines.spark.session import is_remote

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


def checkpoint(session: Any, frame: Any) -> Any:
    """The frame's rows, computed now and kept by Spark's executors.

    The client of Spark Connect binds what comes back to whatever session was made last in the process, in which the
    server does not know it; it is bound to its own here.
    """
    kept = frame.localCheckpoint(eager=True)
    if not is_remote(session):
        return kept
    kept._plan._spark_session = session
    return type(kept)(kept._plan, session)


def free(frame: Any) -> None:
    """Free what a checkpoint holds; a server of Spark Connect does so once nobody here refers to it."""
    if is_remote(frame.sparkSession):
        return
    plan = frame._jdf.queryExecution().logical()
    if plan.getClass().getSimpleName() == "LogicalRDD":
        plan.rdd().unpersist(False)
