"""Text files on Spark: columns in which the type that Spark finds would change a number stay text."""

from __future__ import annotations

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
    asked = [_asked(field) + f" AS c{i}" for i, (_, field) in enumerate(fields)]
    changed = texts.selectExpr(*asked).collect()[0]
    places = [place for (place, _), bad in zip(fields, changed, strict=True) if bad]
    return _with_texts(found, places) if places else None


def _asked(field: Any) -> str:
    """The expression that says whether a column has a value that its type changes."""
    type_name = field.dataType.simpleString()
    return expression(
        "engines/spark/read_changed_spark.sql",
        _AS_IT_STANDS,
        text=Raw(quote(field.name, "spark")),
        type=type_name,
        nested=_is_nested(type_name),
    )


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
