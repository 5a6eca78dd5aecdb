"""What is kept for a while in Spark: rows that come from Python, and checkpoints that are freed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlaudit.engines.base import Row
from sqlaudit.engines.spark_session import is_remote


def frame_of_rows(session: Any, rows: Sequence[Row], schema: str) -> Any:
    """Rows as a frame of Spark, through Arrow; `schema` is Spark's DDL."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    fields = to_arrow_schema(StructType.fromDDL(schema))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
    arrays = [pa.array(values, type=field.type) for values, field in zip(columns, fields, strict=True)]
    return session.createDataFrame(pa.Table.from_arrays(arrays, schema=fields), schema)


def free(frame: Any) -> None:
    """Free what a checkpoint holds; a server of Spark Connect does so once nobody here refers to it."""
    if is_remote(frame.sparkSession):
        return
    plan = frame._jdf.queryExecution().logical()
    if plan.getClass().getSimpleName() == "LogicalRDD":
        plan.rdd().unpersist(False)
