"""DuckDB: files, frames and DuckDB databases, read in place."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from sqlaudit.engines.base import ColumnInfo, Engine, Kind, Relation, Row, Statement
from sqlaudit.errors import EngineError, UsageError
from sqlaudit.guard import guard_expression, guard_query, quote
from sqlaudit.spec import Limits, Target

DIALECT = "duckdb"


class DuckDBEngine(Engine):
    """An in-memory DuckDB that reads its inputs and writes nothing."""

    name = "DuckDB"
    dialect = DIALECT
    can_materialize = True

    def __init__(self, db: str | None = None, limits: Limits | None = None, targets: Sequence[Target] = ()) -> None:
        super().__init__(limits)
        self._connection = duckdb.connect(":memory:", config=self._settings())
        self._catalog = ""
        self._opened = 0
        if db:
            self._attach(db)

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"python_enable_replacements": False, "preserve_insertion_order": False}
        if self.limits.threads:
            settings["threads"] = self.limits.threads
        if self.limits.memory:
            settings["memory_limit"] = self.limits.memory
        return settings

    def _attach(self, db: str) -> None:
        if not Path(db).exists():
            raise UsageError(f"There is no database file {db!r}.")
        self._catalog = Path(db).stem
        self._connection.execute("ATTACH ? AS " + quote(self._catalog, DIALECT) + " (READ_ONLY)", [db])
        self._connection.execute("USE " + quote(self._catalog, DIALECT))

    def open(self, target: Target) -> Relation:
        """Resolve a target to a relation."""
        self._opened += 1
        source = self._source(target)
        if target.where:
            source += " WHERE " + guard_expression(target.where, DIALECT, "--where").sql(dialect=DIALECT)
        name = "sqlaudit_target" + ("" if self._opened == 1 else f"_{self._opened}")
        local = self._local(name)
        scope = "TEMP VIEW " if target.frame is not None else "VIEW "
        sql = name if target.frame is not None else local
        self._execute("CREATE " + scope + sql + " AS " + source)
        return Relation(sql, self._describe(sql), target.name, (target.relation,) if target.relation else ())

    def _source(self, target: Target) -> str:
        if target.query:
            return guard_query(target.query, DIALECT).sql(dialect=DIALECT)
        if target.frame is not None:
            self._connection.register(f"sqlaudit_frame_{self._opened}", target.frame)
            return f"FROM sqlaudit_frame_{self._opened}"
        if self._catalog:
            return "FROM " + ".".join(quote(part.strip('"'), DIALECT) for part in target.relation.split("."))
        return "FROM '" + target.relation.replace("'", "''") + "'"

    def _local(self, name: str) -> str:
        return '"memory"."main".' + quote(name, DIALECT)

    def _describe(self, sql: str) -> tuple[ColumnInfo, ...]:
        rows = self._execute("DESCRIBE FROM " + sql).fetchall()
        return tuple(ColumnInfo(row[0], row[1], kind_of(row[1])) for row in rows)

    def _execute(self, sql: str) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.execute(sql)
        except duckdb.Error as error:
            raise EngineError(f"DuckDB could not run the statement ({type(error).__name__}).") from None

    def run(self, statement: Statement) -> list[Row]:
        """All rows of a statement."""
        begun = time.monotonic()
        rows: list[Row] = self._execute(statement.sql).fetchall()
        self.record(statement, time.monotonic() - begun)
        return rows

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """The rows of a statement in batches."""
        begun = time.monotonic()
        result = self._execute(statement.sql)
        while rows := result.fetchmany(batch):
            yield rows
        self.record(statement, time.monotonic() - begun)

    def materialize(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement in memory."""
        begun = time.monotonic()
        self._execute("CREATE OR REPLACE TABLE " + self._local(name) + " AS\n" + statement.sql).fetchall()
        self.record(statement, time.monotonic() - begun)
        return Relation(self._local(name), self._describe(self._local(name)), name)

    def drop(self, name: str) -> None:
        """Drop a relation made by `materialize`."""
        self._execute("DROP TABLE IF EXISTS " + self._local(name))

    def columns_as_arrays(self, statement: Statement) -> dict[str, Any]:
        """The result as one numpy array a column."""
        begun = time.monotonic()
        arrays: dict[str, Any] = self._execute(statement.sql).fetchnumpy()
        self.record(statement, time.monotonic() - begun)
        return arrays

    def result_names(self, statement: Statement) -> Sequence[str]:
        """The column names of a statement's result."""
        return [row[0] for row in self._execute("DESCRIBE " + statement.sql).fetchall()]

    def explain(self, statement: Statement) -> str:
        """DuckDB's plan."""
        return "\n".join(row[1] for row in self._execute("EXPLAIN " + statement.sql).fetchall())

    def version(self) -> str:
        """For instance `DuckDB 2.0.0`."""
        return f"DuckDB {duckdb.__version__}"

    def cancel(self) -> None:
        """Stop the running statement."""
        self._connection.interrupt()

    def close(self) -> None:
        """Release the connection."""
        self._connection.close()


_KINDS = {
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
         "UHUGEINT", "BIGNUM"),
        Kind.INTEGER,
    ),
    "FLOAT": Kind.FLOAT,
    "DOUBLE": Kind.FLOAT,
    "DECIMAL": Kind.DECIMAL,
    "VARCHAR": Kind.TEXT,
    "ENUM": Kind.TEXT,
    "UUID": Kind.TEXT,
    "DATE": Kind.DATE,
    "TIMESTAMP": Kind.TIMESTAMP,
    "TIMESTAMP_S": Kind.TIMESTAMP,
    "TIMESTAMP_MS": Kind.TIMESTAMP,
    "TIMESTAMP_NS": Kind.TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP,
    "TIME": Kind.TIME,
    "TIME_NS": Kind.TIME,
    "TIME WITH TIME ZONE": Kind.TIME,
}  # fmt: skip


def kind_of(type_name: str) -> Kind:
    """The kind of a DuckDB type as DESCRIBE spells it."""
    if type_name.endswith("]"):
        return Kind.OTHER
    return _KINDS.get(type_name.split("(", 1)[0], Kind.OTHER)
