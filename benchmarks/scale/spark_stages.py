"""What Spark's own status says of the stages that have run in this process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stages:
    """Bytes that stages wrote for others to read, and bytes they spilled to disk."""

    shuffled: int
    spilled: int


def stages() -> Stages:
    """The sums over all stages so far; zero before Spark has started."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None:
        return Stages(0, 0)
    spark, virtual = context._jsc.sc(), context._gateway
    spark.listenerBus().waitUntilEmpty()
    none = virtual.new_array(context._jvm.double, 0), context._jvm.java.util.ArrayList()
    found = spark.statusStore().stageList(None, False, False, *none)
    each = [found.apply(place) for place in range(found.size())]
    return Stages(sum(int(s.shuffleWriteBytes()) for s in each), sum(int(s.diskBytesSpilled()) for s in each))
