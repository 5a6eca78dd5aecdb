"""Calls of DuckDB's table functions, written out, and what its types are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlaudit.base.names import literal
from sqlaudit.engines.duckdb.session import DIALECT


def called(function: str, source: str | list[str], arguments: Mapping[str, Any]) -> str:
    """The call of a function over one or several files.

    Example:
        >>> called("read_parquet", ["p.parquet"], {"hive_partitioning": False})
        "read_parquet(['p.parquet'], hive_partitioning = FALSE)"
    """
    given = [literal(source, DIALECT), *(name + " = " + literal(value, DIALECT) for name, value in arguments.items())]
    return function + "(" + ", ".join(given) + ")"


def hive(folders: Sequence[str]) -> dict[str, Any]:
    """The arguments that read folders named `column=value`, or keep DuckDB from doing so by itself."""
    return {"hive_partitioning": True, "hive_types_autocast": False} if folders else {"hive_partitioning": False}


def is_time(type_name: str) -> bool:
    """Whether a type is one of dates or times."""
    return type_name.startswith(("DATE", "TIME")) and "[" not in type_name
