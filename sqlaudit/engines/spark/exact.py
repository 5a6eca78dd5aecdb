"""Text files on Spark: columns in which the type that Spark finds would change a number stay text."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlaudit.base.names import quote
from sqlaudit.base.sql import Raw, expression

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "date", "timestamp", "timestamp_ntz")
_TEXTS = {"csv": {"inferSchema": False}, "json": {"primitivesAsString": True}}
_AS_IT_STANDS = "duckdb"
"""The template is in Spark's SQL already, and is not to be spelled anew."""


def exact_schema(reader: Any, format_name: str, found: Any, path: str) -> Any | None:
    """The schema with the columns as text in which Spark's types would change a value; None where they change none.

    Args:
        reader: a fresh reader with the options of the files.
        format_name: csv or json.
        found: the schema that Spark inferred.
        path: what is read.
    """
    fields = [(place, field) for place, field in enumerate(found.fields) if _is_checked(field.dataType)]
    if not fields:
        return None
    texts = reader.options(**_TEXTS[format_name]).load(path)
    columns = [(Raw(quote(field.name, "spark")), *_type_and_kind(field.dataType)) for _, field in fields]
    view = "sqlaudit_texts_" + uuid.uuid4().hex
    texts.createOrReplaceTempView(view)
    try:
        asked = expression("engines/spark/read_changed_spark.sql", _AS_IT_STANDS, source=Raw(view), columns=columns)
        changed = texts.sparkSession.sql(asked).collect()[0][0]
    finally:
        texts.sparkSession.catalog.dropTempView(view)
    return _with_texts(found, [fields[at][0] for at in changed]) if changed else None


def _type_and_kind(data_type: Any) -> tuple[str, str]:
    """Spark's name of a type, and how its texts are compared."""
    type_name = data_type.simpleString()
    if _is_nested(type_name):
        return type_name, "nested"
    if type_name.startswith(("date", "time")):
        return type_name, "time"
    return type_name, "float" if type_name in ("float", "double") else "whole"


def _is_nested(type_name: str) -> bool:
    return type_name.startswith(("struct", "array", "map"))


def _is_checked(data_type: Any) -> bool:
    type_name = data_type.simpleString()
    return "double" in type_name if _is_nested(type_name) else type_name.split("(")[0] in _NUMBERS


def _with_texts(schema: Any, places: Sequence[int]) -> Any:
    from pyspark.sql.types import StringType, StructField, StructType

    fields = [
        StructField(field.name, _texts(field.dataType) if _is_nested(field.dataType.simpleString()) else StringType())
        if place in places
        else field
        for place, field in enumerate(schema.fields)
    ]
    return StructType(fields)


def _texts(data_type: Any) -> Any:
    """The type with texts where it has floating-point numbers."""
    from pyspark.sql.types import ArrayType, DoubleType, StringType, StructField, StructType

    if isinstance(data_type, StructType):
        return StructType([StructField(field.name, _texts(field.dataType)) for field in data_type.fields])
    if isinstance(data_type, ArrayType):
        return ArrayType(_texts(data_type.elementType))
    return StringType() if isinstance(data_type, DoubleType) else data_type
