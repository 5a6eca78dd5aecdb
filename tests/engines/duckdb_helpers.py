"""What the tests of the DuckDB engine share: small files, one-line readings, and the sentence of an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.relation import Relation, Row, Statement
from sqlaudit.base.spec import Limits, ReadOptions, Target
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.engine import DuckDBEngine

since_2 = pytest.mark.skipif(DUCKDB_1, reason="DuckDB 1.x does not do this")
SECRET = "SECRET"
"""Stands for a cell value: no error may hold it."""


def written(path: Path, content: str | bytes) -> str:
    """The path of a file with this content (text as UTF-8, line ends as given)."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def read(target: Target, db: str | None = None, limits: Limits | None = None) -> tuple[Relation, list[Row]]:
    """The relation of a target, and all its rows."""
    with DuckDBEngine(db, limits, (target,)) as engine:
        relation = engine.open(target)
        return relation, engine.run(Statement("rows", "SELECT * FROM " + relation.sql))


def rows_of(path: str, **options: Any) -> list[Row]:
    """The rows of a file."""
    return read(Target(relation=path, read=ReadOptions(**options)))[1]


def types_of(path: str, **options: Any) -> dict[str, str]:
    """The columns of a file and their types."""
    relation, _ = read(Target(relation=path, read=ReadOptions(**options)))
    return {column.name: column.type for column in relation.columns}


def error_of(kind: type[SqlauditError], target: Target, db: str | None = None, limits: Limits | None = None) -> str:
    """The sentence of the error that reading a target raises; it holds no cell value and no cause."""
    with pytest.raises(kind) as caught:
        read(target, db, limits)
    return sentence(caught.value)


def sentence(error: SqlauditError) -> str:
    """The text of an error, once it is clear that nothing private comes with it."""
    shown = str(error)
    assert SECRET not in shown
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    return shown
